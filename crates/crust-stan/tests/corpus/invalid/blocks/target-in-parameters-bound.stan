// mistake: target() in the bound of a parameter
parameters {
  real<lower=target()> x;
}
