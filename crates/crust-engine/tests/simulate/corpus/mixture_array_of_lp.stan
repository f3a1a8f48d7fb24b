// all log terms in one array first, then one sum
data { int<lower=1> K; int<lower=1> N; vector[N] y; }
parameters { simplex[K] theta; vector[K] mu; real<lower=0> sigma; }
transformed parameters {
  array[N, K] real lp;
  for (n in 1:N) for (k in 1:K) lp[n, k] = log(theta[k]) + normal_lpdf(y[n] | mu[k], sigma);
}
model { mu ~ normal(0, 5); sigma ~ normal(0, 2); for (n in 1:N) target += log_sum_exp(lp[n]); }
