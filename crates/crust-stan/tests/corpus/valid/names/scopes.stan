// Legal reuse of names in sibling scopes, in function arguments and as loop variables.
functions {
  real f(real x) { real y = x; { real z = y; y = z; } { real z = 2; y += z; } return y; }
  real g(real x, real y) { for (i in 1 : 2) { real t = i; } for (i in 1 : 3) { int t = i; } return x + y; }
  real h(real n) { return n; }
  real k(real f) { return f; }
}
data { real x; int n; }
transformed data {
  real y = f(x);
  { real z = y; }
  for (i in 1 : n) { real z = i; }
  for (i in {1.5, 2.5}) { real z = i; }
}
parameters { real theta; }
model {
  real z = h(theta);
  { int i = 1; }
  for (i in 1 : 2) z += i;
  target += g(z, k(theta));
}
generated quantities { real z = 1; int i = 2; }
