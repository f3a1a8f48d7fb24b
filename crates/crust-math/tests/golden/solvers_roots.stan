// Integrals and algebraic equations; the gradient by w is the solution.
functions {
  real integrand(real x, real xc, array[] real theta, data array[] real x_r, data array[] int x_i) {
    if (x_i[1] == 1) return exp(-theta[1] * x) * cos(theta[2] * x);
    if (x_i[1] == 2) return exp(-theta[1] * square(x - theta[2]));
    if (x_i[1] == 3) return pow(x, theta[1] - 1) * pow(is_nan(xc) || x < 0.5 ? 1 - x : xc, theta[2] - 1);
    if (x_i[1] == 4) return 1 / (1 + theta[1] * square(x) + theta[2] * pow(x, 4));
    return exp(-theta[1] * abs(x)) * log1p(theta[2] * square(x));
  }
  vector equations(vector x, vector theta, int system) {
    int n = size(x);
    vector[n] f;
    if (system == 1) {
      f[1] = x[1] - theta[1] * exp(-x[2]);
      f[2] = x[2] * x[2] + x[1] - theta[2];
    } else if (system == 2) {  // Rosenbrock
      f[1] = 10 * (x[2] - theta[1] * square(x[1]));
      f[2] = theta[2] - x[1];
    } else {  // an equilibrium of three species
      f[1] = x[1] + x[2] + x[3] - theta[1];
      f[2] = x[1] * x[2] - theta[2] * x[3];
      f[3] = exp(x[1]) - theta[2] - x[3];
    }
    return f;
  }
}
data {
  int n;
  int system;
  int method;  // 1: integrate_1d, 2: solve_newton, 3: solve_powell
  real a;
  real b;
  real tol;
  real ftol;
  int steps;
  vector[n] guess;
}
transformed data {
  array[0] real x_r;
  array[1] int x_i = {system};
}
parameters {
  vector[2] theta;
  vector[n] w;
  real a_par;
  real b_par;
}
model {
  if (method == 1) target += w[1] * integrate_1d(integrand, a, b, to_array_1d(theta), x_r, x_i, tol);
  else if (method == 4) target += w[1] * integrate_1d(integrand, a_par, b_par, to_array_1d(theta), x_r, x_i, tol);
  else if (method == 2) target += dot_product(w, solve_newton_tol(equations, guess, tol, ftol, steps, theta, system));
  else target += dot_product(w, solve_powell_tol(equations, guess, tol, ftol, steps, theta, system));
}
