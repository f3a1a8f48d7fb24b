// mistake: the size of a generated quantity depends on a parameter
parameters {
  real<lower=0> p;
}
generated quantities {
  vector[p > 1 ? 2 : 3] q = rep_vector(1, p > 1 ? 2 : 3);
}
