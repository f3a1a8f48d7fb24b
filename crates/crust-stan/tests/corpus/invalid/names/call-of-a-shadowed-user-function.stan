// mistake: a local variable hides a user function (valid), and then the function is called
functions {
  real area(real r) {
    return pi() * r ^ 2;
  }
}
transformed data {
  real area = 3;
  real b = area(2.0);
}
