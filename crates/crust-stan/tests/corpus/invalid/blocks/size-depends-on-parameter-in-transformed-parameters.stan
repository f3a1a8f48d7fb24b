// mistake: the size of a transformed parameter depends on a parameter
parameters {
  real<lower=0> p;
}
transformed parameters {
  vector[p > 1 ? 2 : 3] q;
}
