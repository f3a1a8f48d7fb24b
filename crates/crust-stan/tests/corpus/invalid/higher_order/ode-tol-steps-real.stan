// mistake: the number of steps is a real
functions {
  vector f(real t, vector y) {
    return -y;
  }
}
transformed data {
  array[1] vector[1] z = ode_adams_tol(f, [1]', 0, {1.0}, 1e-6, 1e-6, 1e3);
}
