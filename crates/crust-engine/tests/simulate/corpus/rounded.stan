data { int N; array[N] int y; }
parameters { real mu; real<lower=0> sigma; }
model { for (n in 1:N) target += log_diff_exp(normal_lcdf(y[n] + 0.5 | mu, sigma), normal_lcdf(y[n] - 0.5 | mu, sigma)); }
