// mistake: a return only in the if branch
functions {
  real f(real x) {
    if (x > 0) {
      return x;
    }
  }
}
