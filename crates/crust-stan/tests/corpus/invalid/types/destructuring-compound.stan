// mistake: a compound assignment to a tuple of targets
transformed data {
  real a = 1;
  real b = 1;
  (a, b) += (1, 2);
}
