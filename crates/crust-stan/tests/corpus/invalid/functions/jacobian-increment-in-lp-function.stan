// mistake: jacobian += in an _lp function
functions {
  void f_lp(real x) {
    jacobian += x;
  }
}
