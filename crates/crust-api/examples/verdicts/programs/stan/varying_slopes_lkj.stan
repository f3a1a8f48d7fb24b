data {
  int N;
  int J;
  array[N] int g;
  vector[N] x;
  vector[N] y;
}
parameters {
  vector[2] b;
  vector<lower=0>[2] tau;
  cholesky_factor_corr[2] L;
  matrix[2, J] z;
  real<lower=0> sigma;
}
transformed parameters {
  matrix[J, 2] u = (diag_pre_multiply(tau, L) * z)';
}
model {
  b ~ normal(0, 5);
  tau ~ exponential(1);
  L ~ lkj_corr_cholesky(2);
  to_vector(z) ~ std_normal();
  sigma ~ exponential(1);
  for (n in 1:N) y[n] ~ normal(b[1] + u[g[n], 1] + (b[2] + u[g[n], 2]) * x[n], sigma);
}
