// mistake: the mass suffix on a continuous distribution
parameters {
  real x;
}
model {
  target += normal_lpmf(x | 0, 1);
}
