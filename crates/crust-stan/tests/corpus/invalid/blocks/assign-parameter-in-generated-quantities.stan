// mistake: assigns to a parameter in generated quantities
parameters {
  real x;
}
generated quantities {
  x = 3;
}
