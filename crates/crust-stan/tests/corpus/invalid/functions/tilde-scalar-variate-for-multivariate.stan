// mistake: a scalar variate for a multivariate distribution
parameters {
  real x;
}
model {
  x ~ multi_normal([0, 0]', identity_matrix(2));
}
