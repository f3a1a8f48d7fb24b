// mistake: an unnormalised density in the bound of a transformed parameter
transformed parameters {
  real<lower=normal_lupdf(1 | 0, 1)> x = 3;
}
