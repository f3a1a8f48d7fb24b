// mistake: a random number generator in transformed parameters
transformed parameters {
  real a = normal_rng(0, 1);
}
