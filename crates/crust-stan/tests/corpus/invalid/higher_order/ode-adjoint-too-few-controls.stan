// mistake: the adjoint solver lacks its controls
functions {
  vector f(real t, vector y) {
    return -y;
  }
}
transformed data {
  array[1] vector[1] z = ode_adjoint_tol_ctl(f, [1]', 0, {1.0}, 1e-6, [1e-6]');
}
