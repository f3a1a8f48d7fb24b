// mistake: a _jacobian function called in generated quantities
functions {
  real up_jacobian(real x) {
    jacobian += x;
    return exp(x);
  }
}
generated quantities {
  real y = up_jacobian(1);
}
