// mistake: target() in the bound of a generated quantity
generated quantities {
  real<lower=target()> x = 1;
}
