// mistake: the character @ does not exist in Stan
parameters {
  real x;
}
model {
  x ~ normal(0 @ 1, 1);
}
