// mistake: no semicolon after a declaration
data {
  int N
  real x;
}
