// mistake: the name of a distribution with _lupdf after the tilde
parameters {
  real x;
}
model {
  x ~ normal_lupdf(0, 1);
}
