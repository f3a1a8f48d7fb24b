// mistake: a truncation with three bounds
parameters {
  real x;
}
model {
  x ~ normal(0, 1) T[0, 1, 2];
}
