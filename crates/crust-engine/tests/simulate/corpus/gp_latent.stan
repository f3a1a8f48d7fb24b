data { int<lower=1> N; array[N] real x; array[N] int<lower=0, upper=1> z; }
parameters { real<lower=0> rho; real<lower=0> alpha; real a; vector[N] eta; }
model {
  vector[N] f;
  { matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho); matrix[N, N] L; for (n in 1:N) K[n, n] = K[n, n] + 1e-9; L = cholesky_decompose(K); f = L * eta; }
  rho ~ inv_gamma(5, 5); alpha ~ std_normal(); a ~ std_normal(); eta ~ std_normal(); z ~ bernoulli_logit(a + f);
}
