// Diabetes from eight attributes: logistic regression with a common scale for the coefficients.
data {
  int<lower=1> N;                       // women
  int<lower=1> K;                       // predictors
  matrix[N, K] x;                       // predictors, standardised
  array[N] int<lower=0, upper=1> y;     // 1: diabetes within five years
}
parameters {
  real<lower=0> scale_sq;               // variance of intercept and coefficients
  real alpha;
  vector[K] beta;
}
model {
  scale_sq ~ inv_gamma(1, 1);
  alpha ~ normal(0, sqrt(scale_sq));
  beta ~ normal(0, sqrt(scale_sq));
  y ~ bernoulli_logit(alpha + x * beta);
}
