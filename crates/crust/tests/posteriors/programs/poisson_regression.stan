// Known: quadrature over intercept and slope.
data {
  int<lower=0> N;
  matrix[N, 1] x;
  vector[N] log_exposure;
  array[N] int<lower=0> y;
}
parameters {
  real alpha;
  vector[1] beta;
}
model {
  alpha ~ normal(0, 2);
  beta ~ normal(0, 1);
  y ~ poisson_log_glm(x, alpha + log_exposure, beta);
}
