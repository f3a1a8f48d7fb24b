// Retired: a two-part mixture in the old style: old local arrays, `<-`, `increment_log_prob`, `_log` densities.
data { int<lower=1> n_call; real<lower=0> minutes[n_call]; }
parameters { real<lower=0, upper=1> short_share; real<lower=0> rate[2]; }
model {
  for (c in 1:n_call) {
    real part[2];
    part[1] <- log(short_share) + exponential_log(minutes[c], rate[1]);
    part[2] <- log1m(short_share) + gamma_log(minutes[c], 3, rate[2]);
    increment_log_prob(log_sum_exp(part[1], part[2]));
  }
}
