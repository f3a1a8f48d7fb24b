data {
  int<lower=0> N;
  int<lower=0> K;
  matrix[N, K] x;
  vector[N] y;
}
parameters {
  vector[K] b;
  real shift;
  real<lower=0> sigma;
}
model {
  y ~ normal(x * b + square(shift / 10), sigma);
}
