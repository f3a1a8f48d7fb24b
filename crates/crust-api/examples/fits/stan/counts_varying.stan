// Poisson counts with varying intercepts, non-centred.
data {
  int<lower=1> N;
  int<lower=1> G;
  array[N] int<lower=1, upper=G> g;
  vector[N] x;
  array[N] int<lower=0> y;
}
parameters {
  real alpha;
  real beta;
  real<lower=0> tau;
  vector[G] raw;
}
model {
  alpha ~ normal(0, 2);
  beta ~ normal(0, 1);
  tau ~ normal(0, 1);
  raw ~ normal(0, 1);
  y ~ poisson_log(alpha + beta * x + tau * raw[g]);
}
