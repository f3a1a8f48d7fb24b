// mistake: a distribution statement in generated quantities
parameters {
  real x;
}
generated quantities {
  x ~ normal(0, 1);
}
