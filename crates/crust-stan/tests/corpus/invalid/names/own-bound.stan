// mistake: a variable is used in its own bound
data {
  real<lower=x> x;
}
