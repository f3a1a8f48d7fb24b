// Regression with a local-global prior: few of twelve coefficients matter.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] X;
  vector[N] y;
}
parameters {
  real alpha;
  vector[K] raw;
  vector<lower=0>[K] lambda;
  real<lower=0> tau;
  real<lower=0> sigma;
}
transformed parameters {
  vector[K] beta = tau * lambda .* raw;
}
model {
  alpha ~ normal(0, 3);
  raw ~ normal(0, 1);
  lambda ~ student_t(4, 0, 1);
  tau ~ normal(0, 0.5);
  sigma ~ normal(0, 2);
  y ~ normal(alpha + X * beta, sigma);
}
