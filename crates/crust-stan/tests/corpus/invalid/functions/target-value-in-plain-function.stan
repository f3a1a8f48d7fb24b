// mistake: target() in a plain function
functions {
  real f(real x) {
    return x + target();
  }
}
