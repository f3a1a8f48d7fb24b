// A user density and mass function with truncation, each with lcdf and lccdf (both are needed for any bound).
functions {
  real ramp_lpdf(real x, real w) { return log(2 * x) - 2 * log(w); }
  real ramp_lcdf(real x, real w) { return 2 * (log(x) - log(w)); }
  real ramp_lccdf(real x, real w) { return log1m_exp(ramp_lcdf(x | w)); }
  real tail_lpdf(real x, real r) { return log(r) - r * x; }
  real tail_lccdf(real x, real r) { return -r * x; }
  real tail_lcdf(real x, real r) { return log1m_exp(-r * x); }
  real dice_lpmf(int k, int sides) { return -log(sides); }
  real dice_lcdf(int k, int sides) { return log(k) - log(sides); }
  real dice_lccdf(int k, int sides) { return log1m_exp(dice_lcdf(k | sides)); }
}
data { real<lower=0> x; int<lower=1> k; }
parameters { real<lower=0> w; }
model {
  x ~ ramp(w) T[, 3];
  x ~ tail(w) T[1, ];
  k ~ dice(6) T[, 4];
}
