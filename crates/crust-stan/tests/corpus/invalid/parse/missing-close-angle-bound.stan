// mistake: the bounds are not closed
data {
  real<lower=0 x;
}
