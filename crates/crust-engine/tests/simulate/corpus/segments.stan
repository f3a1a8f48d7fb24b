data { int N; int G; vector[N] y; array[G] int s; }
parameters { vector[G] mu; real<lower=0> sigma; }
model { int pos = 1; mu ~ normal(0, 3); sigma ~ normal(0, 1); for (g in 1:G) { segment(y, pos, s[g]) ~ normal(mu[g], sigma); pos = pos + s[g]; } }
