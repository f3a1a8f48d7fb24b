// mistake: an identifier starts with a digit
parameters {
  real 2nd;
}
