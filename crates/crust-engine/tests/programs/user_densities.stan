// Densities and statements of the user's own: which constants are dropped follows the arguments of each call.
functions {
  real shifted_lpdf(vector y, real mu, real sigma) {
    return normal_lupdf(y | mu + 1, sigma);
  }
  real count_lpmf(int y, real lambda) {
    return poisson_lupmf(y | lambda + 1);
  }
  void prior_lp(real mu, real sigma) {
    mu ~ normal(0, 2);
    target += -sigma;
  }
}
data {
  int<lower=0> N;
  vector[N] y;
  int<lower=0> k;
  real<lower=0> known;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  prior_lp(mu, sigma);
  y ~ shifted(mu, sigma);
  target += shifted_lupdf(y | mu, 3);
  target += shifted_lupdf(y | 0.5, known);
  target += shifted_lpdf(y | mu, known);
  k ~ count(sigma);
  k ~ count(known);
}
