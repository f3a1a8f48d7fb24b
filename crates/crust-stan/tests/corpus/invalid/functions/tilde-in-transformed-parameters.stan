// mistake: a distribution statement in transformed parameters
parameters {
  real x;
}
transformed parameters {
  x ~ normal(0, 1);
}
