// mistake: a random number generator in the bound of a data variable
data {
  real<lower=normal_rng(0, 1)> a;
}
