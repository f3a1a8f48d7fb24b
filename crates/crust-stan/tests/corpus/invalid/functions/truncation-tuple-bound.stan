// mistake: a bound of a truncation is a tuple
parameters {
  real x;
}
model {
  x ~ normal(0, 1) T[, (1, 2)];
}
