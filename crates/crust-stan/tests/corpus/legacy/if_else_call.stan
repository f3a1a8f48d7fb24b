// Retired: `if_else(c, a, b)` in place of the conditional operator.
data { int flag; real a; real b; }
transformed data {
  real c = if_else(flag, a, b);
  real d = if_else(a > b, a, if_else(flag == 2, b, 0.0));
}
parameters { real x; }
model { x ~ normal(c, if_else(d > 0, d, 1.0)); }
