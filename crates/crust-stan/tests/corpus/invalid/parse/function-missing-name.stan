// mistake: a function without a name
functions {
  real (real x) {
    return x;
  }
}
