// Varying intercepts and slopes with an LKJ prior on their correlation.
data {
  int<lower=1> n;
  int<lower=1> n_group;
  int<lower=1> k;
  array[n] int<lower=1, upper=n_group> group;
  matrix[n, k] x;
  vector[n] y;
}
parameters {
  matrix[k, n_group] z;
  cholesky_factor_corr[k] L;
  vector<lower=0>[k] tau;
  vector[k] mu;
  real<lower=0> sigma;
}
transformed parameters {
  matrix[n_group, k] beta = rep_matrix(mu', n_group) + (diag_pre_multiply(tau, L) * z)';
}
model {
  to_vector(z) ~ std_normal();
  L ~ lkj_corr_cholesky(2);
  tau ~ normal(0, 1);
  mu ~ normal(0, 2);
  sigma ~ exponential(1);
  y ~ normal(rows_dot_product(beta[group], x), sigma);
}
generated quantities {
  corr_matrix[k] Omega = multiply_lower_tri_self_transpose(L);
}
