data { int N; vector[N] x; vector[N] w; array[N] int<lower=0, upper=1> d; }
parameters { real a; real b; real c; real<lower=0> s; }
model { a ~ normal(0, 2); b ~ normal(0, 2); s ~ exponential(1); for (i in 1:N) { target += normal_lpdf(w[i] | a + b * x[i], s); target += d[i] * log_inv_logit(c + w[i]) + (1 - d[i]) * log1m_inv_logit(c + w[i]); } }
