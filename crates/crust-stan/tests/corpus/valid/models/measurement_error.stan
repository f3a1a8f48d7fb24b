// Regression with a predictor that is measured with error and a response that is rounded.
data {
  int<lower=1> n;
  vector[n] x_meas;
  vector<lower=0>[n] x_se;
  vector[n] y_rounded;
}
parameters {
  vector[n] x;
  vector<lower=-0.5, upper=0.5>[n] rounding;
  real mu_x;
  real<lower=0> sd_x;
  real a;
  real b;
  real<lower=0> sigma;
}
transformed parameters {
  vector[n] y = y_rounded + rounding;
}
model {
  x ~ normal(mu_x, sd_x);
  x_meas ~ normal(x, x_se);
  y ~ normal(a + b * x, sigma);
  {a, b} ~ normal(0, 5);
  sigma ~ cauchy(0, 3);
}
