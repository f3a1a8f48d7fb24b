// Choices of people with coefficients of their own.
data { int R; int T; int C; int K; array[R, T] int<lower=1, upper=C> y; array[R, T] matrix[C, K] X; }
parameters { vector[K] mu; vector<lower=0>[K] tau; matrix[K, R] z; }
model {
  mu ~ normal(0, 2);
  tau ~ normal(0, 1);
  to_vector(z) ~ std_normal();
  for (r in 1:R) {
    vector[K] beta = mu + tau .* z[, r];
    for (t in 1:T) y[r, t] ~ categorical_logit(X[r, t] * beta);
  }
}
