data {
  int K;
  int N;
  int D;
  array[N] int<lower=1, upper=K> y;
  matrix[N, D] x;
}
parameters {
  matrix[D, K] beta;
}
model {
  matrix[N, K] eta = x * beta;
  to_vector(beta) ~ normal(0, 2);
  for (n in 1:N) y[n] ~ categorical_logit(eta[n]');
}
