// Weibull survival with censoring and frailties.
data { int N; int K; int G; array[N] real<lower=0> t; array[N] int cens; matrix[N, K] x; array[N] int g; }
parameters { real a; vector[K] b; real<lower=0> shape; vector[G] u; real<lower=0> tau; }
model {
  a ~ normal(0, 5);
  b ~ normal(0, 1);
  shape ~ gamma(2, 1);
  u ~ normal(0, tau);
  tau ~ normal(0, 1);
  for (n in 1:N) {
    real scale = exp(-(a + dot_product(x[n], b) + u[g[n]]) / shape);
    if (cens[n] == 1) target += weibull_lccdf(t[n] | shape, scale);
    else target += weibull_lpdf(t[n] | shape, scale);
  }
}
