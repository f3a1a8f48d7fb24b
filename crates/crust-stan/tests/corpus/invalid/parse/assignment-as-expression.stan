// mistake: an assignment used as an expression
transformed data {
  real a;
  real b;
  a = b = 3;
}
