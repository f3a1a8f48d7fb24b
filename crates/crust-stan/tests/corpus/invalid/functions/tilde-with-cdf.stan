// mistake: a cumulative distribution function after the tilde
parameters {
  real x;
}
model {
  x ~ normal_cdf(0, 1);
}
