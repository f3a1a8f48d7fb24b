// A linear regression with a few hundred observations.
data { int N; int K; matrix[N, K] x; vector[N] y; }
parameters { real alpha; vector[K] beta; real<lower=0> sigma; }
model {
  alpha ~ normal(0, 10);
  beta ~ normal(0, 5);
  sigma ~ cauchy(0, 2.5);
  y ~ normal(alpha + x * beta, sigma);
}
