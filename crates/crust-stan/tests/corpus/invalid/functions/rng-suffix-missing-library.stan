// mistake: a random number generator that does not exist for its distribution
generated quantities {
  real a = wiener_rng(2.0, 0.1, 0.5, 1.0);
}
