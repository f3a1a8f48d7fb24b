// mistake: a random number generator as a variate
model {
  normal_rng(0, 1) ~ normal(0, 1);
}
