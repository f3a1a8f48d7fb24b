// Logistic regression with an interaction, written out row by row and as a generalised linear model.
data {
  int<lower=0> N;
  vector[N] dose;
  array[N] int<lower=0, upper=1> treated;
  array[N] int<lower=0, upper=1> y;
}
transformed data {
  vector[N] z = (dose - mean(dose)) / sd(dose);
  matrix[N, 3] X;
  for (n in 1:N) {
    X[n] = [z[n], treated[n], z[n] * treated[n]];
  }
}
parameters {
  real alpha;
  vector[3] beta;
}
model {
  alpha ~ normal(0, 1.5);
  beta ~ double_exponential(0, 1);
  for (n in 1 : N %/% 2) {
    y[n] ~ bernoulli_logit(alpha + X[n] * beta);
  }
  y[N %/% 2 + 1 : N] ~ bernoulli_logit_glm(X[N %/% 2 + 1 : N], alpha, beta);
}
