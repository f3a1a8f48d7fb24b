data { int<lower=1> K; int<lower=1> T; int D; array[T] vector[D] y; }
parameters { simplex[K] pi; array[K] simplex[K] A; array[K] vector[D] mu; real<lower=0> s; }
model { vector[K] la; vector[K] acc; s ~ exponential(1); for (k in 1:K) mu[k] ~ normal(2 * k - 3, 1);
 for (k in 1:K) la[k] = log(pi[k]) + normal_lpdf(y[1] | mu[k], s);
 for (t in 2:T) { vector[K] nl; for (k in 1:K) { for (j in 1:K) acc[j] = la[j] + log(A[j, k]); nl[k] = log_sum_exp(acc) + normal_lpdf(y[t] | mu[k], s); } la = nl; }
 target += log_sum_exp(la); }
