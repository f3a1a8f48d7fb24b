// mistake: too few arguments after the tilde
parameters {
  real x;
}
model {
  x ~ normal(0);
}
