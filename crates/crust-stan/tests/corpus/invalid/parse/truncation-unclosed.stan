// mistake: a truncation that is not closed
parameters {
  real x;
}
model {
  x ~ normal(0, 1) T[0, 1;
}
