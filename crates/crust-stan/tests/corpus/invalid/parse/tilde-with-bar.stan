// mistake: a bar in the arguments of a distribution statement
parameters {
  real x;
}
model {
  x ~ normal(0 | 1);
}
