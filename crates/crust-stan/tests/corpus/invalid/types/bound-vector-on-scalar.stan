// mistake: a vector as the bound of a scalar
data {
  vector[3] b;
  real<lower=b> x;
}
