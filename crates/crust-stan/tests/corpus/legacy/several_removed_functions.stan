// Retired: several removed library names in one expression: fabs, multiply_log, if_else, binomial_coefficient_log.
transformed data {
  real a = fabs(-1.0);
  real b = multiply_log(a, 2.0);
  real c = if_else(a > b, a, b) + binomial_coefficient_log(5, 2);
}
model { }
