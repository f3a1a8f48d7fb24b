// mistake: an _lp function calls a random number generator
functions {
  void foo_lp(real x) {
    target += normal_rng(x, 1);
  }
}
