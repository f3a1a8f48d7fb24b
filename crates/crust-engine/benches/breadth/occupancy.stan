// Occupancy of sites, detections summed over.
data { int S; int V; array[S, V] int<lower=0, upper=1> y; array[S] int q; vector[S] x; }
parameters { real a; real b; real c; real d; vector[S] e; real<lower=0> tau; }
model {
  a ~ normal(0, 2);
  b ~ normal(0, 2);
  c ~ normal(0, 2);
  d ~ normal(0, 2);
  e ~ normal(0, 1);
  tau ~ normal(0, 1);
  for (s in 1:S) {
    real psi = a + b * x[s] + tau * e[s];
    real p = c + d * x[s];
    if (q[s] > 0) {
      target += bernoulli_logit_lpmf(1 | psi);
      for (v in 1:V) target += bernoulli_logit_lpmf(y[s, v] | p);
    } else {
      target += log_sum_exp(bernoulli_logit_lpmf(1 | psi) + V * bernoulli_logit_lpmf(0 | p), bernoulli_logit_lpmf(0 | psi));
    }
  }
}
