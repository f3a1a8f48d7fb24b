// mistake: a function defined inside of another
functions {
  real f(real x) {
    real g(real y) {
      return y;
    }
    return g(x);
  }
}
