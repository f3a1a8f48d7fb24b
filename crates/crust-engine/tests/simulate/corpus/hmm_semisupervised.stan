data { int<lower=1> K; int<lower=1> V; int<lower=0> T; int<lower=1> T_unsup; array[T] int<lower=1, upper=V> w; array[T] int<lower=1, upper=K> z; array[T_unsup] int<lower=1, upper=V> u; vector<lower=0>[K] alpha; vector<lower=0>[V] beta; }
parameters { array[K] simplex[K] theta; array[K] simplex[V] phi; }
model { for (k in 1:K) theta[k] ~ dirichlet(alpha); for (k in 1:K) phi[k] ~ dirichlet(beta);
 for (t in 1:T) w[t] ~ categorical(phi[z[t]]); for (t in 2:T) z[t] ~ categorical(theta[z[t - 1]]);
 { array[K] real acc; array[T_unsup, K] real gamma; for (k in 1:K) gamma[1, k] = log(phi[k, u[1]]);
   for (t in 2:T_unsup) { for (k in 1:K) { for (j in 1:K) acc[j] = gamma[t - 1, j] + log(theta[j, k]) + log(phi[k, u[t]]); gamma[t, k] = log_sum_exp(acc); } }
   target += log_sum_exp(gamma[T_unsup]); } }
