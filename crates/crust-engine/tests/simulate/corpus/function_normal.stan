functions { real my_log_lik(vector y, real mu, real sigma) { real s = 0; for (n in 1:rows(y)) s += -log(sigma) - 0.5 * square((y[n] - mu) / sigma); return s; } }
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model { target += my_log_lik(y, mu, sigma); }
