// Integrals with unknown limits and solutions of equations.
functions {
  real integrand(real x, real xc, array[] real theta, array[] real x_r, array[] int x_i) {
    return exp(-0.5 * square((x - theta[1]) / theta[2])) * pow(abs(x), x_i[1]);
  }
  real beta_kernel(real x, real xc, array[] real theta, array[] real x_r, array[] int x_i) {
    return exp((theta[1] - 1) * log(x) + (theta[2] - 1) * log1m(x));
  }
  vector equations(vector x, vector theta, array[] real x_r, array[] int x_i) {
    vector[2] f;
    f[1] = x[1] - theta[1] * exp(-x[2]);
    f[2] = x[2] - theta[2] * cos(x[1]) * x_r[1];
    return f;
  }
  vector variadic(vector x, real a, array[] vector b) {
    return [x[1] + x[2] * x[3] - a, square(x[2]) - b[1, 1], exp(x[3]) - b[2, 1] * (1 + x[1])]';
  }
}
data {
  real y;
}
parameters {
  real mu;
  real<lower=0> sigma;
  real<lower=mu> limit;
  vector<lower=0>[2] theta;
}
transformed parameters {
  real whole = integrate_1d(integrand, negative_infinity(), positive_infinity(), {mu, sigma}, rep_array(0.0, 0), {0});
  real part = integrate_1d(integrand, mu, limit, {mu, sigma}, rep_array(0.0, 0), {0}, 1e-10);
  real half = integrate_1d(integrand, limit, positive_infinity(), {mu, sigma}, rep_array(0.0, 0), {1});
  real interval = integrate_1d(beta_kernel, 0, 1, {theta[1] + 1, theta[2] + 1}, rep_array(0.0, 0), {0});
  vector[2] root = algebra_solver(equations, [1.0, 1.0]', theta, {0.5}, {0});
  vector[2] same = algebra_solver_newton(equations, root + 0.1, theta, {0.5}, {0}, 1e-6, 1e-12, 300);
  vector[3] other = solve_newton_tol(variadic, [0.5, 1.5, 0.5]', 1e-4, 1e-11, 300, mu, {[2.0]', [1 + theta[1]]'});
  vector[3] another = solve_powell_tol(variadic, [0.5, 1.5, 0.5]', 1e-12, 1e-10, 300, mu, {[sigma + 1]', [3.0]'});
}
model {
  mu ~ normal(0, 1);
  sigma ~ lognormal(0, 0.5);
  theta ~ exponential(1);
  limit ~ normal(2, 1);
  y ~ normal(whole, 2);
  y ~ normal(part + 2 * half, 2);
  y ~ normal(10 * interval, 2);
  y ~ normal(root[1] - 2 * root[2], 1);
  y ~ normal(same[1] * same[2], 1);
  y ~ normal(sum(other) + dot_product(another, [1, 2, 3]'), 3);
}
