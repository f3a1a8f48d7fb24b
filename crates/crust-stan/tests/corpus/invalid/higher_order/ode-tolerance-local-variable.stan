// mistake: a tolerance is a local variable of the model
functions {
  vector f(real t, vector y) {
    return -y;
  }
}
model {
  real tol = 1e-6;
  array[1] vector[1] z = ode_bdf_tol(f, [1]', 0, {1.0}, tol, 1e-6, 100);
}
