// Gamma regression with a log link.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] X;
  vector<lower=0>[N] y;
}
parameters {
  real alpha;
  vector[K] beta;
  real<lower=0> shape;
}
model {
  alpha ~ normal(0, 3);
  beta ~ normal(0, 1);
  shape ~ exponential(0.2);
  y ~ gamma(shape, shape * exp(-(alpha + X * beta)));
}
