// mistake: generated quantities before the model block
generated quantities {
  real x = 1;
}
model {
  target += 1;
}
