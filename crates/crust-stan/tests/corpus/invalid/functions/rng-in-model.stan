// mistake: a random number generator in the model block
model {
  real a = normal_rng(0, 1);
}
