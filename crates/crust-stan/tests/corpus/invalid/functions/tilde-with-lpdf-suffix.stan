// mistake: the name of a distribution with its suffix after the tilde
parameters {
  real x;
}
model {
  x ~ normal_lpdf(0, 1);
}
