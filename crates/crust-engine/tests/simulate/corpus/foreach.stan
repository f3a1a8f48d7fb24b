data { int N; array[N] real y; }
parameters { real mu; real<lower=0> sigma; }
model { mu ~ normal(0, 3); sigma ~ exponential(1); for (v in y) v ~ normal(mu, sigma); }
