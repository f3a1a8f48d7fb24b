// Functions used before the point of their definition, across suffixes.
functions {
  real outer_fn(real x) { return inner_fn(x) + 1; }
  real outer_lpdf(real x, real m) { return inner_lpdf(x | m) + inner_fn(m); }
  real outer_rng(real x) { return inner_rng(x) + 1; }
  void outer_lp(real x) { inner_lp(x); }
  real inner_fn(real x) { return 2 * x; }
  real inner_lpdf(real x, real m) { return -square(x - m); }
  real inner_rng(real x) { return normal_rng(x, 1); }
  void inner_lp(real x) { target += x; }
}
parameters { real y; }
model { y ~ outer(outer_fn(1)); outer_lp(y); }
generated quantities { real z = outer_rng(y); }
