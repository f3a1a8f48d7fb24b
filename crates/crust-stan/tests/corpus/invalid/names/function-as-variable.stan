// mistake: a user function is used as a value
functions {
  real f(real x) {
    return x;
  }
}
transformed data {
  real a = f;
}
