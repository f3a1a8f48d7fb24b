// Weibull survival with covariates: events, right-censored and interval-censored times.
data {
  int<lower=0> N;
  int<lower=1> K;
  matrix[N, K] X;
  vector<lower=0>[N] t;
  vector<lower=0>[N] t_end;
  array[N] int<lower=0, upper=2> kind;
}
parameters {
  vector[K] beta;
  real<lower=0> shape;
  real intercept;
}
model {
  vector[N] scale = exp(-(intercept + X * beta) / shape);
  beta ~ normal(0, 1);
  shape ~ gamma(2, 1);
  intercept ~ normal(0, 2);
  for (n in 1:N) {
    if (kind[n] == 0) target += weibull_lpdf(t[n] | shape, scale[n]);
    else if (kind[n] == 1) target += weibull_lccdf(t[n] | shape, scale[n]);
    else target += log_diff_exp(weibull_lcdf(t_end[n] | shape, scale[n]), weibull_lcdf(t[n] | shape, scale[n]));
  }
}
