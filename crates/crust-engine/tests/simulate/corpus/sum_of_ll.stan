data { int N; array[N] int y; vector[N] x; }
parameters { real a; real b; }
transformed parameters { vector[N] ll; for (n in 1:N) ll[n] = poisson_log_lpmf(y[n] | a + b * x[n]); }
model { a ~ normal(0, 2); b ~ normal(0, 2); target += sum(ll); }
