// mistake: too few arguments to a user function
functions {
  real f(real x, real y) {
    return x + y;
  }
}
transformed data {
  real a = f(1.0);
}
