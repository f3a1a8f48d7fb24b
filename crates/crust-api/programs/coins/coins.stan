// Coins from several mints: each coin has its own chance of heads, coins of one mint are alike.
data {
  int<lower=1> mints;
  int<lower=1> coins;
  array[coins] int<lower=1, upper=mints> mint;
  array[coins] int<lower=0> tosses;
  array[coins] int<lower=0> heads;
}
parameters {
  vector[mints] centre; // typical log odds of a mint
  real<lower=0> spread; // between the coins of a mint
  vector<offset=centre[mint], multiplier=spread>[coins] log_odds;
}
model {
  centre ~ normal(0, 1);
  spread ~ exponential(2);
  log_odds ~ normal(centre[mint], spread);
  heads ~ binomial_logit(tosses, log_odds);
}
generated quantities {
  vector[coins] chance = inv_logit(log_odds);
}
