// mistake: two arguments have the same name
functions {
  real f(real x, real x) {
    return x;
  }
}
