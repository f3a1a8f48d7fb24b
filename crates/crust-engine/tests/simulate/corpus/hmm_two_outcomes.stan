data { int<lower=1> K; int<lower=1> N; array[N] real u; array[N] real v; matrix<lower=0>[K, K] alpha; }
parameters { array[K] simplex[K] theta; positive_ordered[K] phi; positive_ordered[K] lambda; }
model { for (k in 1:K) target += dirichlet_lpdf(theta[k] | alpha[k,]');
 target += normal_lpdf(phi[1] | 0, 1); target += normal_lpdf(phi[2] | 3, 1);
 target += normal_lpdf(lambda[1] | 0, 1); target += normal_lpdf(lambda[2] | 3, 1);
 { array[K] real acc; array[N, K] real gamma;
   for (k in 1:K) gamma[1, k] = exponential_lpdf(u[1] | phi[k]) + exponential_lpdf(v[1] | lambda[k]);
   for (t in 2:N) for (k in 1:K) { for (j in 1:K) acc[j] = gamma[t-1, j] + log(theta[j, k]) + exponential_lpdf(u[t] | phi[k]) + exponential_lpdf(v[t] | lambda[k]);
     gamma[t, k] = log_sum_exp(acc); }
   target += log_sum_exp(gamma[N]); } }
