data { int<lower=1> S; array[S] int<lower=0> counts; vector<lower=0>[S] effort; array[S] int<lower=0, upper=1> treated; }
parameters { real alpha; real delta; real<lower=0> inv_phi; }
transformed parameters { real<lower=0> phi = inv(square(inv_phi)); }
model {
  inv_phi ~ normal(0, 1);
  for (s in 1:S) {
    real eta = alpha + log(effort[s]);
    if (treated[s]) eta += delta;
    counts[s] ~ neg_binomial_2_log(eta, phi);
  }
}
