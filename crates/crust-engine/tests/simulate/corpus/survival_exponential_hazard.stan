data { int<lower=1> N; vector<lower=0>[N] t; array[N] int<lower=0, upper=1> event; vector[N] x; }
parameters { real a; real b; }
model {
  vector[N] log_rate = a + b * x;
  a ~ normal(0, 2); b ~ normal(0, 2);
  for (n in 1:N) { if (event[n]) target += exponential_lpdf(t[n] | exp(log_rate[n])); else target += exponential_lccdf(t[n] | exp(log_rate[n])); }
}
