// Retired: several old forms in one model: `<-`, old arrays, `_log` calls, increment_log_prob and hash comments.
data {
  int<lower=1> n_lab;            # laboratories
  int<lower=1> n_rep;
  real<lower=0> lead[n_lab, n_rep];
  int<lower=0, upper=1> accredited[n_lab];
}
parameters {
  real centre;
  real bias_raw[n_lab];
  real<lower=0> bias_scale[2];
  real<lower=0> repeat_sd;
}
transformed parameters {
  real bias[n_lab];
  for (l in 1:n_lab) {
    bias[l] <- bias_scale[accredited[l] + 1] * bias_raw[l];
  }
}
model {
  increment_log_prob(normal_log(bias_raw, 0, 1));
  for (l in 1:n_lab)
    lead[l] ~ lognormal(centre + bias[l], repeat_sd); # one row per laboratory
}
generated quantities {
  real fit[n_lab];
  for (l in 1:n_lab)
    fit[l] <- lognormal_log(lead[l], centre + bias[l], repeat_sd);
}
