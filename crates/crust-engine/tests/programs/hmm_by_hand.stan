// A hidden Markov model with normal emissions; the forward algorithm with an array for the sums.
data {
  int<lower=1> T;
  int<lower=1> K;
  vector[T] y;
}
parameters {
  simplex[K] start;
  array[K] simplex[K] A;
  ordered[K] mu;
  vector<lower=0>[K] sigma;
}
model {
  array[T, K] real gamma;
  array[K] real acc;
  start ~ dirichlet(rep_vector(2, K));
  for (k in 1:K) A[k] ~ dirichlet(rep_vector(1.5, K));
  mu ~ normal(0, 3);
  sigma ~ normal(0, 1);
  for (k in 1:K) gamma[1, k] = log(start[k]) + normal_lpdf(y[1] | mu[k], sigma[k]);
  for (t in 2:T) {
    for (k in 1:K) {
      for (j in 1:K) acc[j] = gamma[t - 1, j] + log(A[j, k]) + normal_lpdf(y[t] | mu[k], sigma[k]);
      gamma[t, k] = log_sum_exp(acc);
    }
  }
  target += log_sum_exp(gamma[T]);
}
