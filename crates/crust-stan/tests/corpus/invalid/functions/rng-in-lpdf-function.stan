// mistake: an _lpdf function calls a random number generator
functions {
  real foo_lpdf(real x) {
    return normal_rng(x, 1);
  }
}
