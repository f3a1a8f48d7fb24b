// mistake: a function without a return
functions {
  real f(real x) {
    real y = x;
  }
}
