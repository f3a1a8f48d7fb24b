// mistake: a solver with tolerances lacks them
functions {
  vector f(vector y, real k) {
    return k - y;
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_newton_tol(f, [1]', k);
}
