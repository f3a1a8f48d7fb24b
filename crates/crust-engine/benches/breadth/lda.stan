// Latent topics of words, summed out.
data { int K; int V; int M; int N; array[N] int w; array[N] int doc; }
parameters { array[M] simplex[K] theta; array[K] simplex[V] phi; }
model {
  for (m in 1:M) theta[m] ~ dirichlet(rep_vector(0.8, K));
  for (k in 1:K) phi[k] ~ dirichlet(rep_vector(0.5, V));
  for (n in 1:N) {
    array[K] real gamma;
    for (k in 1:K) gamma[k] = log(theta[doc[n], k]) + log(phi[k, w[n]]);
    target += log_sum_exp(gamma);
  }
}
