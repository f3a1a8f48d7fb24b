// mistake: an argument with a default value
functions {
  real f(real x = 1) {
    return x;
  }
}
