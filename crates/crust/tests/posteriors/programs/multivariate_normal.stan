// Known: precisions add.
data {
  int<lower=1> K;
  int<lower=0> N;
  vector[K] m;
  cov_matrix[K] S_prior;
  cov_matrix[K] S;
  array[N] vector[K] y;
}
parameters {
  vector[K] mu;
}
model {
  mu ~ multi_normal(m, S_prior);
  y ~ multi_normal_cholesky(mu, cholesky_decompose(S));
}
