// Constrained types with several declarators, some with definitions.
data {
  int<lower=0> a, b;
  array[2] real<lower=0> p, q;
  simplex[3] s, t;
}
transformed data {
  real<lower=0> u = 1, v, w = 2;
  v = 3;
  vector<lower=0>[2] x = [1, 2]', y = [3, 4]';
}
parameters {
  real<lower=0> alpha, beta, gam;
  cholesky_factor_corr[2] l1, l2;
}
transformed parameters {
  real<lower=0> m = alpha + beta, n = m + gam;
}
