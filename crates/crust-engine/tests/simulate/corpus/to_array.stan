data { int N; int M; matrix[N, M] y; }
parameters { real mu; real<lower=0> s; }
model { mu ~ normal(0, 3); s ~ exponential(1); to_array_1d(y) ~ normal(mu, s); }
