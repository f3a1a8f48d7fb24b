// Known: quadrature over mean and overdispersion.
data {
  int<lower=0> N;
  array[N] int<lower=0> y;
}
parameters {
  real<lower=0> mu;
  real<lower=0> phi;
}
model {
  mu ~ gamma(2, 0.5);
  phi ~ lognormal(0.5, 0.7);
  y ~ neg_binomial_2(mu, phi);
}
