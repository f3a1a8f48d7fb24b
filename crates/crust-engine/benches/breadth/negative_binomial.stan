// Counts with varying intercepts and slopes, centred.
data { int N; int J; array[N] int<lower=0> y; array[N] int b; vector[N] traps; vector[N] age; }
parameters { real alpha; real<lower=0> sa; vector[J] mu; real beta; real<lower=0> sk; vector[J] kappa; real<lower=0> inv_phi; }
transformed parameters { real phi = inv(inv_phi); }
model {
  inv_phi ~ normal(0, 1);
  kappa ~ normal(beta, sk);
  sk ~ normal(0, 1);
  beta ~ normal(-0.25, 1);
  mu ~ normal(alpha, sa);
  sa ~ normal(0, 1);
  alpha ~ normal(log(4), 1);
  y ~ neg_binomial_2_log(mu[b] + kappa[b] .* traps + 0.5 * age, phi);
}
