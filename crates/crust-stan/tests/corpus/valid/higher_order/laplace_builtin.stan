// Embedded Laplace approximation with the built-in likelihoods.
functions {
  matrix kern(array[] vector x, real a, real r) { return gp_matern32_cov(x, a, r); }
}
data { int<lower=1> n; array[n] int<lower=0> y; array[n] int<lower=0, upper=1> b; array[n] int group; array[n] vector[1] x; }
transformed data { vector[n] init = rep_vector(0, n); }
parameters { real<lower=0> a; real<lower=0> r; vector[n] m; vector<lower=0>[n] phi; }
model {
  y ~ laplace_marginal_poisson_log(group, m, 1, kern, (x, a, r));
  target += laplace_marginal_poisson_log_lpmf(y | group, m, 1, kern, (x, a, r));
  target += laplace_marginal_poisson_log_lupmf(y | group, m, 1, kern, (x, a, r));
  target += laplace_marginal_bernoulli_logit_lpmf(b | group, m, 1, kern, (x, a, r));
  target += laplace_marginal_neg_binomial_2_log_lpmf(y | group, phi, m, 1, kern, (x, a, r));
  target += laplace_marginal_tol_poisson_log_lpmf(y | group, m, 1, kern, (x, a, r), (init, 1e-6, 100, 1, 0, 1));
  target += laplace_marginal_tol_bernoulli_logit_lupmf(b | group, m, 1, kern, (x, a, r), generate_laplace_options(n));
  y ~ laplace_marginal_tol_neg_binomial_2_log(group, phi, m, 1, kern, (x, a, r), generate_laplace_options(n));
}
generated quantities {
  vector[n] f1 = laplace_latent_poisson_log_rng(y, group, m, 1, kern, (x, a, r));
  vector[n] f2 = laplace_latent_bernoulli_logit_rng(b, group, m, 1, kern, (x, a, r));
  vector[n] f3 = laplace_latent_neg_binomial_2_log_rng(y, group, phi, m, 1, kern, (x, a, r));
  vector[n] f4 = laplace_latent_tol_poisson_log_rng(y, group, m, 1, kern, (x, a, r), generate_laplace_options(n));
  vector[n] f5 = laplace_latent_tol_bernoulli_logit_rng(b, group, m, 1, kern, (x, a, r), generate_laplace_options(n));
  vector[n] f6 = laplace_latent_tol_neg_binomial_2_log_rng(y, group, phi, m, 1, kern, (x, a, r), generate_laplace_options(n));
}
