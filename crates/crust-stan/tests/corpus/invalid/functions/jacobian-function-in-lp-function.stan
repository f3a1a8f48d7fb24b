// mistake: a _jacobian function called in an _lp function
functions {
  real up_jacobian(real x) {
    jacobian += x;
    return exp(x);
  }
  void add_lp(real x) {
    target += up_jacobian(x);
  }
}
