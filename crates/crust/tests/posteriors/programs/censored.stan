// Known: quadrature over shape and scale of the survival times.
data {
  int<lower=0> N;
  int<lower=0> N_censored;
  vector<lower=0>[N] y;
  vector<lower=0>[N_censored] at_least;
}
parameters {
  real<lower=0> shape;
  real<lower=0> scale;
}
model {
  shape ~ gamma(4, 2);
  scale ~ gamma(2, 0.5);
  y ~ weibull(shape, scale);
  target += weibull_lccdf(at_least | shape, scale);
}
