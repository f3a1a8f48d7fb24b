// A user function and a variable with one name, where the function is not called after the variable is in scope.
functions {
  real rate(real x) { return exp(x); }
  real uses_rate(real x) { return rate(x) + 1; }
}
data { real x; }
transformed data { real a = rate(x); real b = uses_rate(a); }
parameters { real u; }
model { real c = rate(u); { real rate = c; target += -rate; } target += rate(u); }
