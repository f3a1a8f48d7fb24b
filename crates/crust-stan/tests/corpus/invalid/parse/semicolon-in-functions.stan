// mistake: a semicolon after a function
functions {
  real f(real x) {
    return x;
  };
}
