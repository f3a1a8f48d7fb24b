data { int N; real U; array[N] real<upper=U> y; }
parameters { real mu; real<lower=0> sigma; }
model { mu ~ normal(0, 3); sigma ~ exponential(1); for (n in 1:N) y[n] ~ normal(mu, sigma) T[ , U]; }
