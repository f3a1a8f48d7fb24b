// Retired: a `_log` density called by its full name with commas from another `_log` density.
functions {
  real inner_log(real x, real m) { return -square(x - m); }
  real outer_log(real x, real m) { return inner_log(x, m) + normal_log(x, m, 2); }
}
data { real x; }
parameters { real m; }
model { x ~ outer(m); increment_log_prob(outer_log(x, m)); }
