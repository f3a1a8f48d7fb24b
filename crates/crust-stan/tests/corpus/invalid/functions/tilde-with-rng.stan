// mistake: a random number generator after the tilde
parameters {
  real x;
}
model {
  x ~ normal_rng(0, 1);
}
