// Retired: the suffixes `_cdf_log` and `_ccdf_log`.
data { real lo; real hi; }
parameters { real mu; real<lower=0> sigma; }
model {
  target += normal_cdf_log(hi, mu, sigma);
  target += normal_ccdf_log(lo, mu, sigma);
  target += -log_diff_exp(normal_cdf_log(hi, mu, sigma), normal_cdf_log(lo, mu, sigma));
}
