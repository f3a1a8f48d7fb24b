// TADDAA, section 4.3: is a candy chocolate? Logistic regression without an intercept on features as they are.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] z;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  vector[K] beta;
}
model {
  beta ~ normal(0, 1);
  y ~ bernoulli_logit(z * beta);
}
