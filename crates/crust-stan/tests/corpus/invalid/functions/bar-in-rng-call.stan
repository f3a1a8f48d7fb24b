// mistake: a bar in a call of a random number generator
generated quantities {
  real a = normal_rng(0 | 1);
}
