// mistake: a truncation with a small t
parameters {
  real x;
}
model {
  x ~ normal(0, 1) t[0, 1];
}
