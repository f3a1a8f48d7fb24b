// mistake: a void function returns a value
functions {
  void f(real x) {
    return x;
  }
}
