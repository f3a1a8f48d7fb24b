// mistake: an _lp function called in a _jacobian function
functions {
  void add_lp(real x) {
    target += x;
  }
  real up_jacobian(real x) {
    add_lp(x);
    return exp(x);
  }
}
