// mistake: a plain function calls a random number generator
functions {
  real f(real x) {
    return normal_rng(x, 1);
  }
}
