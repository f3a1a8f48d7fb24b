// mistake: the functor of an integral takes too few arguments
functions {
  real f(real x, real xc, array[] real th) {
    return x;
  }
}
transformed data {
  real a = integrate_1d(f, 0, 1, {1.0}, {1.0}, {1});
}
