// mistake: a distribution statement as a value
parameters {
  real x;
}
model {
  real a = (x ~ normal(0, 1));
}
