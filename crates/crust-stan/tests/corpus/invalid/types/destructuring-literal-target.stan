// mistake: a literal among the targets
transformed data {
  real a;
  (a, 2) = (1.0, 2.0);
}
