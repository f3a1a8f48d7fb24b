// A program with only a generated quantities block.
generated quantities {
  real draw = normal_rng(0, 1);
  int coin = bernoulli_rng(0.5);
}
