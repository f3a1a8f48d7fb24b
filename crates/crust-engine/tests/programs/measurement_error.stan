// Regression on a covariate that is measured with error, and rounded measurements of the outcome.
data {
  int<lower=0> N;
  vector[N] x_meas;
  real<lower=0> tau;
  vector[N] y;
  vector[N] y_rounded;
}
parameters {
  vector[N] x;
  real mu_x;
  real<lower=0> sigma_x;
  real alpha;
  real beta;
  real<lower=0> sigma;
}
model {
  x ~ normal(mu_x, sigma_x);
  x_meas ~ normal(x, tau);
  y ~ normal(alpha + beta * x, sigma);
  for (n in 1:N) {
    target += log_diff_exp(normal_lcdf(y_rounded[n] + 0.5 | alpha + x[n], 1), normal_lcdf(y_rounded[n] - 0.5 | alpha + x[n], 1));
  }
  [mu_x, alpha, beta] ~ normal(0, 3);
  sigma_x ~ lognormal(0, 0.5);
  sigma ~ inv_gamma(3, 2);
}
