// mistake: a tolerance is a parameter
functions {
  vector f(real t, vector y) {
    return -y;
  }
}
parameters {
  real tol;
}
model {
  array[1] vector[1] z = ode_rk45_tol(f, [1]', 0, {1.0}, tol, 1e-6, 100);
}
