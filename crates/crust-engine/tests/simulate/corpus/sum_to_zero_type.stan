data { int N; int G; array[N] int g; vector[N] y; }
parameters { sum_to_zero_vector[G] b; real a; real<lower=0> s; }
model { a ~ normal(0, 2); b ~ normal(0, 1); s ~ exponential(1); y ~ normal(a + b[g], s); }
