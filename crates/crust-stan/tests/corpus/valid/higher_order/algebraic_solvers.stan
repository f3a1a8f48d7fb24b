// Newton and Powell solvers, with and without tolerances, with extra arguments of several types.
functions {
  vector eqs(vector x, real a, array[] int k, matrix m) {
    return [x[1] ^ 2 + x[2] - a, x[1] - k[1] * x[2] * m[1, 1]]';
  }
  vector root(vector x) { return x .^ 2 - 2; }
}
transformed data {
  vector[2] guess = [1, 1]';
  vector[1] r2 = solve_newton(root, [1]');
  vector[1] r3 = solve_powell(root, [1.5]');
}
parameters { real<lower=0> a; matrix[2, 2] m; }
transformed parameters {
  vector[2] x1 = solve_newton(eqs, guess, a, {1}, m);
  vector[2] x2 = solve_newton_tol(eqs, guess, 1e-3, 1e-6, 200, a, {1}, m);
  vector[2] x3 = solve_powell(eqs, guess, a, {1}, m);
  vector[2] x4 = solve_powell_tol(eqs, guess, 1e-10, 1e-6, 200, a, {1}, m);
}
model { x1 ~ normal(x2 + x3 - x4, 1); }
