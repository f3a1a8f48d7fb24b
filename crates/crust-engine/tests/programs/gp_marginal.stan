// A Gaussian process with normal noise, marginalised; a sum of two kernels.
data {
  int<lower=1> N;
  array[N] real x;
  vector[N] y;
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
  real<lower=0> alpha_lin;
}
model {
  matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho) + square(alpha_lin) * (to_vector(x) * to_row_vector(x));
  for (n in 1:N) K[n, n] += square(sigma);
  rho ~ inv_gamma(5, 5);
  alpha ~ std_normal();
  alpha_lin ~ std_normal();
  sigma ~ std_normal();
  y ~ multi_normal_cholesky(rep_vector(0.1, N), cholesky_decompose(K));
}
