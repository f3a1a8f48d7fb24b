// mistake: an exponent with a fraction
transformed data {
  real a = 1e2.5;
}
