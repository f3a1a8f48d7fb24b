// Bare blocks with own declarations; equal names in sibling scopes.
transformed data {
  real acc = 0;
  { real t = 1; acc += t; }
  { real t = 2; acc += t; { int t2 = 3; acc += t2; } }
  { { { } } }
  for (i in 1 : 2) { real t = i; acc += t; }
  for (i in 1 : 2) { int t = i; acc += t; }
}
parameters { real x; }
model {
  {
    vector[2] local = [x, 2 * x]';
    local ~ normal(0, 1);
  }
  if (x > 0) {
    real local = x;
    target += -local;
  } else {
    int local = 3;
    target += local;
  }
}
