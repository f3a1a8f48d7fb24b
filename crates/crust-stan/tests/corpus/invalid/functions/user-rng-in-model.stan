// mistake: a user random number generator in the model block
functions {
  real f_rng(real x) {
    return normal_rng(x, 1);
  }
}
model {
  target += f_rng(1);
}
