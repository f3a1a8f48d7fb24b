// mistake: a bound that is not declared
parameters {
  real<lower=low> x;
}
