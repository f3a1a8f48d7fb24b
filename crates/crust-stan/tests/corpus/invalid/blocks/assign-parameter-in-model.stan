// mistake: assigns to a parameter in the model block
parameters {
  real x;
}
model {
  x = 3;
}
