// mistake: a random number generator in the bound of a parameter
parameters {
  real<lower=normal_rng(0, 1)> a;
}
