// mistake: a function without a return type
functions {
  f(real x) {
    return x;
  }
}
