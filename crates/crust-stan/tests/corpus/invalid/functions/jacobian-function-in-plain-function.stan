// mistake: a _jacobian function called in a plain function
functions {
  real up_jacobian(real x) {
    jacobian += x;
    return exp(x);
  }
  real f(real x) {
    return up_jacobian(x);
  }
}
