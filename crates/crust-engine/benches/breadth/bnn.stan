// A neural network with a hidden layer.
data { int N; int K; int H; matrix[N, K] x; array[N] int<lower=0, upper=1> y; }
parameters { matrix[K, H] w1; row_vector[H] b1; vector[H] w2; real b2; }
model {
  matrix[N, H] h = tanh(x * w1 + rep_matrix(b1, N));
  to_vector(w1) ~ normal(0, 1);
  b1 ~ normal(0, 1);
  w2 ~ normal(0, 1);
  b2 ~ normal(0, 1);
  y ~ bernoulli_logit(h * w2 + b2);
}
