data { int<lower=1> K; int<lower=1> V; int<lower=0> T; array[T] int<lower=1, upper=V> w; vector<lower=0>[K] alpha; vector<lower=0>[V] beta; }
parameters { array[K] simplex[K] theta; array[K] simplex[V] phi; }
model {
  for (k in 1:K) theta[k] ~ dirichlet(alpha);
  for (k in 1:K) phi[k] ~ dirichlet(beta);
  { array[K] real acc; array[K] real gamma; array[K] real old;
    for (k in 1:K) gamma[k] = -log(K) + log(phi[k, w[1]]);
    for (t in 2:T) { old = gamma; for (k in 1:K) { for (j in 1:K) acc[j] = old[j] + log(theta[j, k]) + log(phi[k, w[t]]); gamma[k] = log_sum_exp(acc); } }
    target += log_sum_exp(gamma); }
}
