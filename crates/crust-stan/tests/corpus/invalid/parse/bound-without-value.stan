// mistake: a bound without a value
data {
  real<lower> x;
}
