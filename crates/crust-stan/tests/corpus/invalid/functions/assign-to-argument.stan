// mistake: a function assigns to its argument
functions {
  real f(real x) {
    x = 2;
    return x;
  }
}
