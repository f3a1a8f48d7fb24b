// Meta-analysis of parallel experiments, non-centred by hand.
data {
  int<lower=1> n_school;
  vector[n_school] effect;
  vector<lower=0>[n_school] std_err;
}
parameters {
  real grand;
  real<lower=0> between;
  vector[n_school] raw;
}
transformed parameters {
  vector[n_school] school_effect = fma(between, raw, grand);
}
model {
  grand ~ normal(0, 5);
  between ~ cauchy(0, 5);
  raw ~ std_normal();
  effect ~ normal(school_effect, std_err);
}
generated quantities {
  real shrink = mean(1 - square(between) ./ (square(between) + square(std_err)));
  int best = sort_indices_desc(school_effect)[1];
}
