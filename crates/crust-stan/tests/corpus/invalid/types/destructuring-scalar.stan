// mistake: a tuple of targets for a scalar
transformed data {
  real a;
  real b;
  (a, b) = 1.0;
}
