// An autoregressive time series as the BREAD paper (appendix C) writes it, in the Stan of 2016. Data: ../google/google.json
data {
  int<lower=0> N;
  real y[N];
}
parameters {
  real alpha;
  real beta;
  real<lower=0> sigma_sq;
}
model {
  alpha ~ normal(0, 1);
  beta ~ normal(1, 0.1);
  sigma_sq ~ inv_gamma(1, 1);
  for (n in 2:N)
    y[n] ~ normal(alpha + beta * y[n-1], sqrt(sigma_sq));
}
