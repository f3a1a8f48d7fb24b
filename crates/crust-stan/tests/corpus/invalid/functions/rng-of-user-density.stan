// mistake: a random number generator of a user density that has none
functions {
  real foo_lpdf(real x, real m) {
    return -abs(x - m);
  }
}
generated quantities {
  real a = foo_rng(1.0);
}
