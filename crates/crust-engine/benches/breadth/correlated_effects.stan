// Varying intercepts and slopes with correlations.
data { int N; int J; int L; array[N] int jj; matrix[N, 2] x; vector[N] y; }
parameters { matrix[2, J] z; cholesky_factor_corr[2] L_Omega; vector<lower=0>[2] tau; vector[2] g; real<lower=0> sigma; }
transformed parameters { matrix[J, 2] beta = rep_matrix(g', J) + (diag_pre_multiply(tau, L_Omega) * z)'; }
model {
  to_vector(z) ~ std_normal();
  L_Omega ~ lkj_corr_cholesky(2);
  tau ~ cauchy(0, 2.5);
  g ~ normal(0, 5);
  sigma ~ normal(0, 2);
  y ~ normal(rows_dot_product(beta[jj], x), sigma);
}
