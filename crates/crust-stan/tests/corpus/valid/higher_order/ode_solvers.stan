// All variadic ODE solvers, with and without tolerances, on one right-hand side with extra arguments.
functions {
  vector spring(real t, vector state, real damping, vector mass, array[] int kind) {
    return [state[2], -mass[1] * state[1] - damping * state[2] * kind[1]]';
  }
}
data {
  int<lower=1> n;
  array[n] real<lower=0> ts;
  array[n] vector[2] obs;
  array[1] int kind;
}
transformed data {
  real t0 = 0;
  vector[2] tol = [1e-7, 1e-7]';
}
parameters {
  vector[2] start;
  real<lower=0> damping;
  vector<lower=0>[1] mass;
  real<lower=0> sigma;
}
transformed parameters {
  array[n] vector[2] s1 = ode_rk45(spring, start, t0, ts, damping, mass, kind);
  array[n] vector[2] s2 = ode_ckrk(spring, start, 0, ts, damping, mass, kind);
  array[n] vector[2] s3 = ode_adams(spring, start, 0.0, ts, damping, mass, {1});
  array[n] vector[2] s4 = ode_bdf(spring, start, t0, ts, 2, mass, kind);
  array[n] vector[2] s5 = ode_rk45_tol(spring, start, t0, ts, 1e-6, 1e-6, 1000, damping, mass, kind);
  array[n] vector[2] s6 = ode_ckrk_tol(spring, start, t0, ts, 1e-6, 1e-6, 1000, damping, mass, kind);
  array[n] vector[2] s7 = ode_adams_tol(spring, start, t0, ts, 1e-6, 1e-6, 1000, damping, mass, kind);
  array[n] vector[2] s8 = ode_bdf_tol(spring, start, t0, ts, 1e-6, 1e-6, 1000, damping, mass, kind);
  array[n] vector[2] s9 = ode_adjoint_tol_ctl(spring, start, t0, ts, 1e-6, tol, 1e-6, tol, 1e-6, 1e-6, 1000, 100, 1, 1, 2, damping, mass, kind);
}
model {
  for (i in 1 : n) obs[i] ~ normal(s1[i], sigma);
}
