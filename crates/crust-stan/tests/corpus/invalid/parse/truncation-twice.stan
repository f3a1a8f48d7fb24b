// mistake: two truncations
parameters {
  real x;
}
model {
  x ~ normal(0, 1) T[0, ] T[, 1];
}
