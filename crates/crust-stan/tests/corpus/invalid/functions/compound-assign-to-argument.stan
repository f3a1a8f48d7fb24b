// mistake: a function adds to its argument in place
functions {
  real f(real x) {
    x += 2;
    return x;
  }
}
