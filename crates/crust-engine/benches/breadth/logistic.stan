// A logistic regression with three thousand observations.
data { int N; int K; matrix[N, K] x; array[N] int<lower=0, upper=1> y; }
parameters { real alpha; vector[K] beta; }
model {
  alpha ~ normal(0, 5);
  beta ~ normal(0, 2);
  y ~ bernoulli_logit(alpha + x * beta);
}
