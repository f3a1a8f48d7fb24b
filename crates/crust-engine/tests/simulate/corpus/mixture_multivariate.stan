data { int N; int D; int K; array[N] vector[D] y; }
parameters { simplex[K] theta; array[K] vector[D] mu; array[K] cholesky_factor_cov[D] L; }
model { for (k in 1:K) { mu[k] ~ normal(6 * k - 9, 2); to_vector(L[k]) ~ normal(0, 2); } for (n in 1:N) { vector[K] lp; for (k in 1:K) lp[k] = log(theta[k]) + multi_normal_cholesky_lpdf(y[n] | mu[k], L[k]); target += log_sum_exp(lp); } }
