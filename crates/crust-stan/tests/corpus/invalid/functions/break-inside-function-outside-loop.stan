// mistake: a break in a function outside of a loop
functions {
  void f(real x) {
    break;
  }
}
