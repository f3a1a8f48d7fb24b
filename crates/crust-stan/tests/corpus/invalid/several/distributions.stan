// mistake: four broken distribution statements (4 mistakes)
parameters {
  real x;
}
model {
  x ~ gaussian(0, 1);
  x ~ normal(0);
  x ~ poisson(3);
  x ~ normal_lpdf(0, 1);
}
