data { int<lower=1> K; int<lower=1> V; int<lower=0> M; int<lower=0> N; array[N] int<lower=1, upper=V> w; array[N] int<lower=1, upper=M> doc; vector<lower=0>[K] alpha; vector<lower=0>[V] beta; }
parameters { simplex[K] theta; array[K] simplex[V] phi; }
model { array[M, K] real gamma; theta ~ dirichlet(alpha); for (k in 1:K) phi[k] ~ dirichlet(beta);
 for (m in 1:M) for (k in 1:K) gamma[m, k] = categorical_lpmf(k | theta);
 for (n in 1:N) for (k in 1:K) gamma[doc[n], k] = gamma[doc[n], k] + categorical_lpmf(w[n] | phi[k]);
 for (m in 1:M) target += log_sum_exp(gamma[m]); }
