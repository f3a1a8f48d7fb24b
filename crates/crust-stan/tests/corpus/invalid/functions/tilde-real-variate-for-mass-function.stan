// mistake: a real variate for a discrete distribution
parameters {
  real x;
}
model {
  x ~ poisson(3);
}
