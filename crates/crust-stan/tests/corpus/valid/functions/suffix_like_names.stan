// Function names that resemble special suffixes without being them, and retired suffixes as plain names.
functions {
  real lpdf(real x) { return x; }
  real my_log(real x) { return log(x); }
  real my_cdf_log(real x) { return x; }
  real rng(real x) { return x; }
  real lp(real x) { return x; }
  real foo_lpdfx(real x) { return x; }
  real f_lpdf_inner(real x) { return x; }
  real jacobian_of(real x) { return x; }
  real target_of(real x) { return x; }
}
parameters { real x; }
model { target += lpdf(x) + my_log(square(x)) + my_cdf_log(x) + rng(x) + lp(x) + foo_lpdfx(x) + f_lpdf_inner(x) + jacobian_of(x) + target_of(x); }
