// Retired: `integrate_ode` and `integrate_ode_rk45` together with the old array types `real[]`.
functions {
  real[] decay(real t, real[] y, real[] theta, real[] x_r, int[] x_i) {
    real dydt[1];
    dydt[1] = -theta[1] * y[1];
    return dydt;
  }
}
data { int<lower=1> n; real ts[n]; real obs[n]; }
transformed data { real x_r[0]; int x_i[0]; }
parameters { real<lower=0> theta[1]; real y0[1]; }
model {
  real sol[n, 1];
  real sol2[n, 1];
  sol = integrate_ode(decay, y0, 0, ts, theta, x_r, x_i);
  sol2 = integrate_ode_rk45(decay, y0, 0, ts, theta, x_r, x_i);
  for (i in 1:n) obs[i] ~ normal(sol[i, 1], 1);
}
