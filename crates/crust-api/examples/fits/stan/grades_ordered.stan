// Ordered logistic regression with five grades.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] X;
  array[N] int<lower=1, upper=5> y;
}
parameters {
  vector[K] beta;
  ordered[4] cut;
}
model {
  beta ~ normal(0, 1);
  cut ~ normal(0, 3);
  y ~ ordered_logistic(X * beta, cut);
}
