// The older algebra_solver and algebra_solver_newton with packed arguments (still accepted by 2.39 without a warning).
functions {
  vector eqs(vector y, vector theta, data array[] real x_r, data array[] int x_i) {
    return y .* y - theta;
  }
}
transformed data { array[0] real x_r; array[0] int x_i; vector[2] guess = [1, 1]'; }
parameters { vector<lower=0>[2] theta; }
transformed parameters {
  vector[2] a = algebra_solver(eqs, guess, theta, x_r, x_i);
  vector[2] b = algebra_solver(eqs, guess, theta, x_r, x_i, 1e-10, 1e-6, 1000);
  vector[2] c = algebra_solver_newton(eqs, guess, theta, x_r, x_i);
}
model { }
