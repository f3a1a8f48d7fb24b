// mistake: a truncation with a single bound and no comma
parameters {
  real x;
}
model {
  x ~ normal(0, 1) T[0];
}
