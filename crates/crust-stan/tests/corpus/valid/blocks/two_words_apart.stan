// Two-word block names whose words are separated by several blanks and tabs, and braces on other lines.
transformed    data
{
  int a = 1;
}
parameters

{
  real b;
}
transformed parameters /* brace follows */
{
  real c = a * b;
}
generated	 quantities // brace on the next line
{
  real d = c + 1;
}
