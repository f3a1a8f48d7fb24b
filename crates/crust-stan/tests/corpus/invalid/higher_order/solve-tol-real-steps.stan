// mistake: the number of steps of a solver is a real
functions {
  vector f(vector y, real k) {
    return k - y;
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_newton_tol(f, [1]', 1e-6, 1e-6, 100.5, k);
}
