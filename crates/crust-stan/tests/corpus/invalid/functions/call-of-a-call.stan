// mistake: the result of a call is called
functions {
  real f(real x) {
    return x;
  }
}
transformed data {
  real b = f(1)(2);
}
