// A hidden Markov model with normal emissions, the forward algorithm with local arrays.
data { int K; int T; array[T] real y; }
parameters { array[K] simplex[K] Gamma; ordered[K] mu; vector<lower=0>[K] sigma; }
model {
  array[K] real acc;
  array[T, K] real gamma;
  mu ~ normal(0, 5);
  sigma ~ normal(0, 2);
  for (k in 1:K) Gamma[k] ~ dirichlet(rep_vector(2, K));
  for (k in 1:K) gamma[1, k] = normal_lpdf(y[1] | mu[k], sigma[k]);
  for (t in 2:T) {
    for (k in 1:K) {
      for (j in 1:K) acc[j] = gamma[t - 1, j] + log(Gamma[j, k]) + normal_lpdf(y[t] | mu[k], sigma[k]);
      gamma[t, k] = log_sum_exp(acc);
    }
  }
  target += log_sum_exp(gamma[T]);
}
