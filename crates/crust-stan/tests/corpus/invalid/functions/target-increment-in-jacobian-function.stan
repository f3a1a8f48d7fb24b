// mistake: target += in a _jacobian function
functions {
  real up_jacobian(real x) {
    target += x;
    return exp(x);
  }
}
