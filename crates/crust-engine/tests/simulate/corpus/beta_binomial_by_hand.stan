data { int N; array[N] int n; array[N] int<lower=0> y; }
parameters { real<lower=0> a; real<lower=0> b; }
model { target += -2.5 * log(a + b); for (i in 1:N) target += lchoose(n[i], y[i]) + lbeta(a + y[i], b + n[i] - y[i]) - lbeta(a, b); }
