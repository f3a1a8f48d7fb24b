// Three correlated normal outcomes with an LKJ prior.
data {
  int<lower=1> N;
  array[N] vector[3] y;
}
parameters {
  vector[3] mu;
  vector<lower=0>[3] sigma;
  cholesky_factor_corr[3] L;
}
model {
  mu ~ normal(0, 3);
  sigma ~ normal(0, 2);
  L ~ lkj_corr_cholesky(2);
  y ~ multi_normal_cholesky(mu, diag_pre_multiply(sigma, L));
}
