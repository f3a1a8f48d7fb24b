// mistake: target += in a plain function
functions {
  void f(real x) {
    target += x;
  }
}
