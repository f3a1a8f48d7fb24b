// mistake: an unknown distribution after the tilde
parameters {
  real x;
}
model {
  x ~ gaussian(0, 1);
}
