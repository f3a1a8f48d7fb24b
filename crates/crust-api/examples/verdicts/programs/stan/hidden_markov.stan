data {
  int<lower=1> N;
  int K;
  vector[N] y;
}
parameters {
  array[K] simplex[K] theta;
  positive_ordered[K] mu;
}
model {
  vector[K] acc;
  array[N] vector[K] gamma;
  mu ~ normal(0, 5);
  for (k in 1:K) theta[k] ~ dirichlet(rep_vector(2, K));
  for (k in 1:K) gamma[1, k] = -log(K) + normal_lpdf(y[1] | mu[k], 1);
  for (t in 2:N) for (k in 1:K) {
    for (j in 1:K) acc[j] = gamma[t - 1, j] + log(theta[j, k]) + normal_lpdf(y[t] | mu[k], 1);
    gamma[t, k] = log_sum_exp(acc);
  }
  target += log_sum_exp(gamma[N]);
}
