// mistake: an ordinary function after the tilde
parameters {
  real x;
}
model {
  x ~ exp(1);
}
