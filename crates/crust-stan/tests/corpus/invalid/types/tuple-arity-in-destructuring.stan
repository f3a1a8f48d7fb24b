// mistake: three targets for a pair
transformed data {
  real a;
  real b;
  real c;
  (a, b, c) = (1.0, 2.0);
}
