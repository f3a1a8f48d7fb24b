// mistake: a _jacobian function called in transformed data
functions {
  real up_jacobian(real x) {
    jacobian += x;
    return exp(x);
  }
}
transformed data {
  real y = up_jacobian(1);
}
