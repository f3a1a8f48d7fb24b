data {
  int N_obs;
  int N_cen;
  vector[N_obs] t_obs;
  vector[N_cen] t_cen;
  vector[N_obs] x_obs;
  vector[N_cen] x_cen;
}
parameters {
  real<lower=0> alpha;
  real b0;
  real b1;
}
model {
  alpha ~ exponential(1);
  b0 ~ normal(0, 5);
  b1 ~ normal(0, 2.5);
  t_obs ~ weibull(alpha, exp(-(b0 + b1 * x_obs) / alpha));
  target += weibull_lccdf(t_cen | alpha, exp(-(b0 + b1 * x_cen) / alpha));
}
