// mistake: a missing operand and, later, an integer parameter and an undeclared name (3 mistakes)
transformed data {
  real a = 1 + ;
}
parameters {
  int k;
}
model {
  target += kk;
}
