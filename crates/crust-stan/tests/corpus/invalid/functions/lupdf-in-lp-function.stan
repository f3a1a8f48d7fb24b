// mistake: an unnormalised density in an _lp function
functions {
  void foo_lp(real x) {
    target += normal_lupdf(x | 0, 1);
  }
}
