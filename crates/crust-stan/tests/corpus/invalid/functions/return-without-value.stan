// mistake: a real function returns without a value
functions {
  real f(real x) {
    return;
  }
}
