data { int<lower=0> N; int<lower=0> T; array[T] real x; array[N, T] real y; real xbar; }
parameters { array[N] real alpha; array[N] real beta; real mu_alpha; real mu_beta;
  real<lower=0> sigmasq_y; real<lower=0> sigmasq_alpha; real<lower=0> sigmasq_beta; }
transformed parameters { real<lower=0> sigma_y; real<lower=0> sigma_alpha; real<lower=0> sigma_beta;
  sigma_y = sqrt(sigmasq_y); sigma_alpha = sqrt(sigmasq_alpha); sigma_beta = sqrt(sigmasq_beta); }
model {
  mu_alpha ~ normal(0, 100); mu_beta ~ normal(0, 100);
  sigmasq_y ~ inv_gamma(0.001, 0.001); sigmasq_alpha ~ inv_gamma(0.001, 0.001); sigmasq_beta ~ inv_gamma(0.001, 0.001);
  alpha ~ normal(mu_alpha, sigma_alpha); beta ~ normal(mu_beta, sigma_beta);
  for (n in 1:N) for (t in 1:T) y[n, t] ~ normal(alpha[n] + beta[n] * (x[t] - xbar), sigma_y);
}
