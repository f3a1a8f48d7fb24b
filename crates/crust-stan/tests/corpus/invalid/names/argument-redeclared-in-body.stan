// mistake: the body declares an argument again
functions {
  real f(real x) {
    real x = 2;
    return x;
  }
}
