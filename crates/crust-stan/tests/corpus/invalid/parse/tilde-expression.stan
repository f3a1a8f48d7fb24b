// mistake: an expression after the tilde
parameters {
  real x;
}
model {
  x ~ 2 * normal(0, 1);
}
