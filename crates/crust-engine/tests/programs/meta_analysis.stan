// Binomial trials of treatment and control, with a random effect by study; the logit scale with offsets.
data {
  int<lower=0> J;
  array[J] int<lower=0> n_t;
  array[J] int<lower=0> r_t;
  array[J] int<lower=0> n_c;
  array[J] int<lower=0> r_c;
}
parameters {
  real d;
  real<lower=0> sigma;
  vector<offset=d, multiplier=sigma>[J] delta;
  vector[J] mu;
}
model {
  d ~ normal(0, 2);
  sigma ~ student_t(3, 0, 1);
  delta ~ normal(d, sigma);
  mu ~ logistic(0, 2);
  r_c ~ binomial_logit(n_c, mu);
  r_t ~ binomial_logit(n_t, mu + delta);
  for (j in 1:J) r_t[j] ~ beta_binomial(n_t[j], 1 + exp(d), 2);
}
