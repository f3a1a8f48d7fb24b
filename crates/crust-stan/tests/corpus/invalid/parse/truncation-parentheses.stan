// mistake: a truncation with parentheses
parameters {
  real x;
}
model {
  x ~ normal(0, 1) T(0, 1);
}
