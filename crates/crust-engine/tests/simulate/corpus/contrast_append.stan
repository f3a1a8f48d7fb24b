data { int N; int G; array[N] int g; vector[N] y; }
parameters { vector[G - 1] b_raw; real a; real<lower=0> s; }
transformed parameters { vector[G] b = append_row(b_raw, -sum(b_raw)); }
model { a ~ normal(0, 2); b ~ normal(0, 1); s ~ exponential(1); y ~ normal(a + b[g], s); }
