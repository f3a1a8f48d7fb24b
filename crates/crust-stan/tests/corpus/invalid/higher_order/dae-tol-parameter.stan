// mistake: a tolerance of dae_tol is a parameter
functions {
  vector f(real t, vector y, vector yp, real k) {
    return yp + k * y;
  }
}
parameters {
  real k;
}
model {
  array[1] vector[1] z = dae_tol(f, [1]', [1]', 0, {1.0}, k, 1e-6, 10, k);
}
