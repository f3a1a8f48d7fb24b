// Weibull regression for survival times with right and interval censoring.
data {
  int<lower=0> n_event;
  int<lower=0> n_right;
  int<lower=0> n_interval;
  int<lower=1> p;
  vector<lower=0>[n_event] t_event;
  vector<lower=0>[n_right] t_right;
  vector<lower=0>[n_interval] t_from;
  vector<lower=t_from>[n_interval] t_to;
  matrix[n_event, p] x_event;
  matrix[n_right, p] x_right;
  matrix[n_interval, p] x_interval;
}
parameters {
  real<lower=0> shape;
  real mu;
  vector[p] beta;
}
model {
  vector[n_interval] scale_i = exp(mu + x_interval * beta);
  shape ~ lognormal(0, 0.5);
  mu ~ normal(0, 5);
  beta ~ normal(0, 1);
  t_event ~ weibull(shape, exp(mu + x_event * beta));
  target += weibull_lccdf(t_right | shape, exp(mu + x_right * beta));
  for (i in 1 : n_interval) {
    target += log_diff_exp(weibull_lcdf(t_to[i] | shape, scale_i[i]), weibull_lcdf(t_from[i] | shape, scale_i[i]));
  }
}
generated quantities {
  real median_baseline = exp(mu) * log(2) ^ inv(shape);
}
