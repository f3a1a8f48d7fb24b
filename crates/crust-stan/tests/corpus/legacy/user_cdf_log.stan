// Retired: a user density with `_log`, `_cdf_log` and `_ccdf_log` functions under truncation.
functions {
  real step_up_log(real x, real w) { return log(2 * x) - 2 * log(w); }
  real step_up_cdf_log(real x, real w) { return 2 * (log(x) - log(w)); }
  real step_up_ccdf_log(real x, real w) { return log1m(square(x / w)); }
}
data { real<lower=0> x; }
parameters { real<lower=1> w; }
model { x ~ step_up(w) T[0.1, 0.9]; }
