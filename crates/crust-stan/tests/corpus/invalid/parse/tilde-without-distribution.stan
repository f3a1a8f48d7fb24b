// mistake: nothing after the tilde
parameters {
  real x;
}
model {
  x ~ ;
}
