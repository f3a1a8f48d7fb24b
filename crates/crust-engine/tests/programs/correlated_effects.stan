// Intercepts and slopes by group, correlated, in the non-centred form.
data {
  int<lower=0> N;
  int<lower=1> J;
  int<lower=1> K;
  array[N] int<lower=1, upper=J> jj;
  matrix[N, K] x;
  vector[N] y;
}
parameters {
  matrix[K, J] z;
  cholesky_factor_corr[K] L_Omega;
  vector<lower=0, upper=pi() / 2>[K] tau_unif;
  row_vector[K] gamma;
  real<lower=0> sigma;
}
transformed parameters {
  vector<lower=0>[K] tau = 2.5 * tan(tau_unif);
  matrix[J, K] beta = rep_matrix(gamma, J) + (diag_pre_multiply(tau, L_Omega) * z)';
}
model {
  to_vector(z) ~ std_normal();
  L_Omega ~ lkj_corr_cholesky(2);
  gamma ~ normal(0, 5);
  sigma ~ exponential(1);
  y ~ normal(rows_dot_product(beta[jj], x), sigma);
}
generated quantities {
  corr_matrix[K] Omega = multiply_lower_tri_self_transpose(L_Omega);
}
