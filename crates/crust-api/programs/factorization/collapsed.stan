// The same model as uncollapsed.stan with the left factor u integrated out: given v, each row of y is Gaussian.
data {
  int<lower=1> N;
  int<lower=1> D;
  int<lower=1> K;
  array[N] vector[D] y;
}
parameters {
  matrix[D, K] v;
}
model {
  to_vector(v) ~ normal(0, 1);
  matrix[D, D] covariance = add_diag(tcrossprod(v), 1);
  y ~ multi_normal(rep_vector(0, D), covariance);
}
