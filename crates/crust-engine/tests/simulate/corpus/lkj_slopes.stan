data { int<lower=1> N; int<lower=1> J; array[N] int<lower=1, upper=J> id; vector[N] t; vector[N] y; }
transformed data { vector[N] tc = t - mean(t); }
parameters {
  vector[2] beta; vector<lower=0>[2] tau; cholesky_factor_corr[2] L; matrix[2, J] z; real<lower=0> sigma;
}
transformed parameters { matrix[J, 2] u = (diag_pre_multiply(tau, L) * z)'; }
model {
  vector[N] mu;
  beta ~ normal(0, 5); tau ~ student_t(3, 0, 2.5); L ~ lkj_corr_cholesky(2); to_vector(z) ~ std_normal();
  sigma ~ student_t(3, 0, 2.5);
  for (n in 1:N) mu[n] = beta[1] + u[id[n], 1] + (beta[2] + u[id[n], 2]) * tc[n];
  target += normal_lpdf(y | mu, sigma);
}
