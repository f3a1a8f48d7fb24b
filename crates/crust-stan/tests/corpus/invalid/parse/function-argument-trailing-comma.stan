// mistake: a comma after the last argument of a definition
functions {
  real f(real x,) {
    return x;
  }
}
