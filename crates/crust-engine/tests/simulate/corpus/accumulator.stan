data { int N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model {
  real ll = 0;
  mu ~ normal(0, 5); sigma ~ cauchy(0, 1);
  for (n in 1:N) { real z = (y[n] - mu) / sigma; ll += -0.5 * z * z - log(sigma); }
  target += ll;
}
