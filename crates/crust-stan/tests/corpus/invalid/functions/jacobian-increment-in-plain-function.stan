// mistake: jacobian += in a plain function
functions {
  void f(real x) {
    jacobian += x;
  }
}
