data { int N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> s; real<lower=1> nu; }
model { a ~ normal(0, 10); b ~ normal(0, 10); s ~ cauchy(0, 5); nu ~ gamma(2, 0.1); y ~ student_t(nu, a + b * x, s); }
