// Regression with Student's t errors whose degrees of freedom are not known.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] X;
  vector[N] y;
}
parameters {
  real alpha;
  vector[K] beta;
  real<lower=0> sigma;
  real<lower=1> nu;
}
model {
  alpha ~ normal(0, 5);
  beta ~ normal(0, 2);
  sigma ~ normal(0, 2);
  nu ~ gamma(2, 0.1);
  y ~ student_t(nu, alpha + X * beta, sigma);
}
