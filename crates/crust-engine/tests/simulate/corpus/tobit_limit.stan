data { int N; vector[N] x; vector[N] y; real L; }
parameters { real a; real b; real<lower=0> s; }
model { a ~ normal(0,2); b ~ normal(0,2); s ~ exponential(1);
 for (n in 1:N) { if (y[n] > L) target += normal_lpdf(y[n] | a + b*x[n], s); else target += normal_lcdf(L | a + b*x[n], s); } }
