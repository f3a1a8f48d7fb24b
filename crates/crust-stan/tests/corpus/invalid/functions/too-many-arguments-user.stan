// mistake: too many arguments to a user function
functions {
  real f(real x) {
    return x;
  }
}
transformed data {
  real a = f(1.0, 2.0);
}
