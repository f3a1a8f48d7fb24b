// mistake: a chain of else if without a last else
functions {
  real f(real x) {
    if (x > 0) {
      return x;
    } else if (x < 0) {
      return -x;
    }
  }
}
