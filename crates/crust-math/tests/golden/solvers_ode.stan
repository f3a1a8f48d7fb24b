// Differential equations under all four solvers; the weights w are parameters, so that the gradient by w is the solution.
functions {
  vector rate(real t, vector y, vector theta, int system) {
    int n = size(y);
    vector[n] d;
    if (system == 1) {  // Lotka-Volterra
      d[1] = (theta[1] - theta[2] * y[2]) * y[1];
      d[2] = (-theta[3] + theta[4] * y[1]) * y[2];
    } else if (system == 2) {  // one compartment, absorption and Michaelis-Menten elimination
      d[1] = -theta[1] * y[1];
      d[2] = theta[1] * y[1] - theta[2] * y[2] / (theta[3] + y[2]) - theta[4] * y[2] * exp(-0.1 * t);
    } else if (system == 3) {  // SIR with a seasonal contact rate
      real infection = theta[1] * (1 + theta[3] * cos(t)) * y[1] * y[2];
      d[1] = -infection + theta[4] * y[3];
      d[2] = infection - theta[2] * y[2];
      d[3] = theta[2] * y[2] - theta[4] * y[3];
    } else {  // Robertson's stiff kinetics
      d[1] = -theta[1] * y[1] + theta[2] * y[2] * y[3];
      d[2] = theta[1] * y[1] - theta[2] * y[2] * y[3] - theta[3] * theta[4] * y[2] * y[2];
      d[3] = theta[3] * theta[4] * y[2] * y[2];
    }
    return d;
  }
  array[] vector solve(int method, vector y0, real t0, array[] real ts, data real rtol, data real atol,
                       data int steps, vector theta, int system) {
    if (method == 1) return ode_rk45_tol(rate, y0, t0, ts, rtol, atol, steps, theta, system);
    if (method == 2) return ode_ckrk_tol(rate, y0, t0, ts, rtol, atol, steps, theta, system);
    if (method == 3) return ode_bdf_tol(rate, y0, t0, ts, rtol, atol, steps, theta, system);
    return ode_adams_tol(rate, y0, t0, ts, rtol, atol, steps, theta, system);
  }
}
data {
  int n;
  int times;
  int system;
  int method;
  int kind;  // 0: all data, 1: theta, 2: theta and y0, 3: theta, y0, t0 and ts, 4: y0
  real rtol;
  real atol;
  int steps;
  vector[4] theta_data;
  vector[n] y0_data;
  real t0_data;
  array[times] real ts_data;
}
parameters {
  vector[4] theta;
  vector[n] y0;
  real t0;
  array[times] real ts;
  array[times] vector[n] w;
}
model {
  array[times] vector[n] y;
  if (kind == 0) y = solve(method, y0_data, t0_data, ts_data, rtol, atol, steps, theta_data, system);
  else if (kind == 1) y = solve(method, y0_data, t0_data, ts_data, rtol, atol, steps, theta, system);
  else if (kind == 2) y = solve(method, y0, t0_data, ts_data, rtol, atol, steps, theta, system);
  else if (kind == 3) y = solve(method, y0, t0, ts, rtol, atol, steps, theta, system);
  else y = solve(method, y0, t0_data, ts_data, rtol, atol, steps, theta_data, system);
  for (i in 1:times) target += dot_product(w[i], y[i]);
}
