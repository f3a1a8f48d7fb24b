// Beta-binomial outcomes with a mean that follows a predictor.
data {
  int<lower=1> N;
  vector[N] x;
  array[N] int<lower=1> n;
  array[N] int<lower=0> y;
}
parameters {
  real alpha;
  real beta;
  real<lower=0> kappa;
}
model {
  vector[N] mu = inv_logit(alpha + beta * x);
  alpha ~ normal(0, 2);
  beta ~ normal(0, 1);
  kappa ~ gamma(2, 0.1);
  y ~ beta_binomial(n, mu * kappa, (1 - mu) * kappa);
}
