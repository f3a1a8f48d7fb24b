// Retired: the `integrate_ode_*` family with packed arguments (2.39 still takes them with deprecation warnings).
functions {
  array[] real rhs(real t, array[] real y, array[] real theta, data array[] real x_r, data array[] int x_i) {
    return {-theta[1] * y[1], theta[1] * y[1] - theta[2] * y[2]};
  }
}
data { int<lower=1> n; array[n] real ts; }
transformed data { array[0] real x_r; array[0] int x_i; }
parameters { array[2] real y0; array[2] real<lower=0> theta; }
transformed parameters {
  array[n, 2] real a = integrate_ode_rk45(rhs, y0, 0.0, ts, theta, x_r, x_i);
  array[n, 2] real b = integrate_ode_bdf(rhs, y0, 0, ts, theta, x_r, x_i, 1e-6, 1e-6, 1000);
  array[n, 2] real c = integrate_ode_adams(rhs, y0, 0, ts, theta, x_r, x_i);
}
model { }
