// Embedded Laplace approximation with a user likelihood: marginal, with options, and draws of the latent field.
functions {
  real count_ll(vector f, array[] int y, vector off) { return poisson_log_lpmf(y | f + off); }
  real single_ll(vector f, array[] int y) { return poisson_log_lpmf(y | f); }
  matrix kern(array[] vector x, real a, real r) { return add_diag(gp_exp_quad_cov(x, a, r), 1e-8); }
}
data { int<lower=1> n; array[n] int<lower=0> y; array[n] vector[2] x; vector[n] off; }
transformed data { vector[n] init = rep_vector(0, n); }
parameters { real<lower=0> a; real<lower=0> r; }
model {
  a ~ inv_gamma(2, 1);
  r ~ inv_gamma(3, 2);
  target += laplace_marginal(count_ll, (y, off), 1, kern, (x, a, r));
  target += laplace_marginal(single_ll, (y,), 1, kern, (x, a, r));
  target += laplace_marginal_tol(count_ll, (y, off), 1, kern, (x, a, r), (init, 1e-6, 100, 1, 0, 1));
  target += laplace_marginal_tol(count_ll, (y, off), 1, kern, (x, a, r), generate_laplace_options(n));
}
generated quantities {
  vector[n] f1 = laplace_latent_rng(count_ll, (y, off), 1, kern, (x, a, r));
  vector[n] f2 = laplace_latent_tol_rng(count_ll, (y, off), 1, kern, (x, a, r), generate_laplace_options(init));
}
