// An input-output hidden Markov model with regressions in each state.
data { int T; int K; int M; array[T] real x; array[T] vector[M] u; }
parameters { simplex[K] pi1; array[K] vector[M] w; array[K] vector[M] b; array[K] real<lower=0> s; }
transformed parameters {
  array[T] vector[K] unalpha;
  array[T] vector[K] logA;
  array[T] vector[K] logobs;
  array[K] real acc;
  for (t in 1:T) {
    vector[K] un;
    for (j in 1:K) un[j] = u[t]' * w[j];
    logA[t] = log_softmax(un);
    for (j in 1:K) logobs[t, j] = normal_lpdf(x[t] | u[t]' * b[j], s[j]);
  }
  for (j in 1:K) unalpha[1, j] = log(pi1[j]) + logobs[1, j];
  for (t in 2:T) {
    for (j in 1:K) {
      for (i in 1:K) acc[i] = unalpha[t - 1, i] + logA[t, i] + logobs[t, j];
      unalpha[t, j] = log_sum_exp(acc);
    }
  }
}
model {
  for (j in 1:K) {
    w[j] ~ normal(0, 5);
    b[j] ~ normal(0, 5);
  }
  s ~ normal(0, 3);
  target += log_sum_exp(unalpha[T]);
}
