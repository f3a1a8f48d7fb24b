// mistake: a variable is used before its declaration
transformed data {
  real a = b;
  real b = 1;
}
