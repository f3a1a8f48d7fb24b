// mistake: an _lp function called in transformed data
functions {
  void add_lp(real x) {
    target += x;
  }
}
transformed data {
  add_lp(1);
}
