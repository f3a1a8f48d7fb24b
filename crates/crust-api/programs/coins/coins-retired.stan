# The same coins in the Stan of ten years ago.
data {
  int<lower=1> mints;
  int<lower=1> coins;
  int<lower=1, upper=mints> mint[coins];
  int<lower=0> tosses[coins];
  int<lower=0> heads[coins];
}
parameters {
  vector[mints] centre;
  real<lower=0> spread;
  vector[coins] raw;
}
model {
  vector[coins] log_odds;
  for (i in 1:coins)
    log_odds[i] <- centre[mint[i]] + spread * raw[i];
  centre ~ normal(0, 1);
  spread ~ exponential(2);
  raw ~ normal(0, 1);
  increment_log_prob(binomial_logit_log(heads, tosses, log_odds));
}
