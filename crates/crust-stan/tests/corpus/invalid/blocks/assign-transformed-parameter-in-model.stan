// mistake: assigns to a transformed parameter in the model block
transformed parameters {
  real x = 1;
}
model {
  x = 3;
}
