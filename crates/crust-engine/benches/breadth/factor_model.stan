// Multivariate outcomes with a covariance made of factors.
data { int N; int D; int K; array[N] vector[D] y; }
parameters { matrix[D, K] Lambda; vector<lower=0>[D] psi; vector[D] mu; }
model {
  matrix[D, D] Sigma = add_diag(tcrossprod(Lambda), square(psi));
  to_vector(Lambda) ~ normal(0, 1);
  psi ~ normal(0, 1);
  mu ~ normal(0, 5);
  y ~ multi_normal(mu, Sigma);
}
