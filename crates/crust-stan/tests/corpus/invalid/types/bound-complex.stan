// mistake: a complex bound
data {
  real<lower=2i> x;
}
