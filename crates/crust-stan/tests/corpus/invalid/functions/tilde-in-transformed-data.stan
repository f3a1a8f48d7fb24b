// mistake: a distribution statement in transformed data
data {
  real x;
}
transformed data {
  x ~ normal(0, 1);
}
