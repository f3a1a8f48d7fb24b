data { int<lower=0> N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> s; real<lower=0, upper=0.5> w; }
model {
  a ~ normal(0, 10); b ~ normal(0, 2); s ~ normal(0, 1); w ~ beta(1, 10);
  for (i in 1:N)
    target += log_mix(w, normal_lpdf(y[i] | a + b * x[i], 10 * s), normal_lpdf(y[i] | a + b * x[i], s));
}
