// Known: the normal-inverse-gamma posterior of mean and variance.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> v;
}
transformed parameters {
  real sigma = sqrt(v);
}
model {
  v ~ inv_gamma(4, 6);
  mu ~ normal(1, sigma / sqrt(2));
  y ~ normal(mu, sigma);
}
