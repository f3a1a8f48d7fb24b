// mistake: a function passed to a user function
functions {
  real g(real x) {
    return x;
  }
  real f(real x) {
    return x;
  }
}
transformed data {
  real b = f(g);
}
