// mistake: an upper bound together with a multiplier
parameters {
  real<upper=1, multiplier=2> x;
}
