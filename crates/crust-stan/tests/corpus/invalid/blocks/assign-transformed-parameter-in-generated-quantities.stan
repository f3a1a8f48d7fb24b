// mistake: assigns to a transformed parameter in generated quantities
transformed parameters {
  real x = 1;
}
generated quantities {
  x = 3;
}
