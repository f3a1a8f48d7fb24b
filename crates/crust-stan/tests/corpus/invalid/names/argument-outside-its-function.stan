// mistake: an argument is used outside of its function
functions {
  real f(real x) {
    return x;
  }
}
transformed data {
  real a = x;
}
