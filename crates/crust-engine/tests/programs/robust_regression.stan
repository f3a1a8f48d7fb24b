// Linear regression with heavy-tailed errors and an unknown number of degrees of freedom.
data {
  int<lower=0> N;
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
  beta ~ student_t(4, 0, 2.5);
  sigma ~ cauchy(0, 2);
  nu ~ gamma(2, 0.1);
  y ~ student_t(nu, alpha + X * beta, sigma);
}
