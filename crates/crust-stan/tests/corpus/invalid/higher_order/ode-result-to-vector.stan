// mistake: the result of a differential equation for a vector
functions {
  vector f(real t, vector y) {
    return -y;
  }
}
transformed data {
  vector[1] z = ode_rk45(f, [1]', 0, {1.0});
}
