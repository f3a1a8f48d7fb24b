// Known: quadrature over location and scale.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0, 5);
  sigma ~ normal(0, 2);
  y ~ student_t(4, mu, sigma);
}
