// mistake: indexes a scalar
data {
  real x;
}
transformed data {
  real a = x[1];
}
