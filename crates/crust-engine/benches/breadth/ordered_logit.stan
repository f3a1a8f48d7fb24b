// Ordered logistic regression.
data { int N; int K; int D; array[N] int<lower=1, upper=K> y; array[N] row_vector[D] x; }
parameters { vector[D] beta; ordered[K - 1] c; }
model {
  beta ~ normal(0, 2);
  c ~ normal(0, 5);
  for (n in 1:N) y[n] ~ ordered_logistic(x[n] * beta, c);
}
