// Differential-algebraic solvers with and without tolerances.
functions {
  vector residual(real t, vector y, vector dy, real a, real b) {
    return [dy[1] + a * y[1] - b * y[2], y[1] + y[2] - 1]';
  }
}
data { int n; array[n] real ts; vector[n] obs; }
parameters { real<lower=0> a; real<lower=0> b; real<lower=0, upper=1> u; real<lower=0> s; }
transformed parameters {
  vector[2] y0 = [u, 1 - u]';
  vector[2] dy0 = [-a * u + b * (1 - u), a * u - b * (1 - u)]';
  array[n] vector[2] sol = dae(residual, y0, dy0, 0, ts, a, b);
  array[n] vector[2] sol2 = dae_tol(residual, y0, dy0, 0.0, ts, 1e-6, 1e-8, 10000, a, b);
}
model { for (i in 1 : n) obs[i] ~ normal(sol[i, 1], s); }
