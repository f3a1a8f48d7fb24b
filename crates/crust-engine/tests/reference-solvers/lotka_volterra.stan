// Prey and predators by both interfaces, with arguments of every kind.
functions {
  vector growth(real t, vector z, real alpha, vector theta, matrix season, array[] int which) {
    vector[2] rate;
    real u = z[which[1]];
    real v = z[which[2]];
    rate[1] = (alpha - theta[1] * v) * u;
    rate[2] = (-theta[2] + theta[3] * u) * v + season[1, 2] * sin(t);
    return rate;
  }
  array[] real old_growth(real t, array[] real z, array[] real theta, array[] real x_r, array[] int x_i) {
    real du = (theta[1] - theta[2] * z[2]) * z[1];
    real dv = (-theta[3] + theta[4] * z[1]) * z[2] + x_r[x_i[1]] * sin(t);
    return {du, dv};
  }
}
data {
  int<lower=1> N;
  array[N] real ts;
  array[N] vector<lower=0>[2] y;
}
transformed data {
  matrix[2, 2] season = [[0, 0.1], [0, 0]];
}
parameters {
  real<lower=0> alpha;
  vector<lower=0>[3] theta;
  vector<lower=0>[2] z_init;
  real<lower=0> sigma;
}
model {
  array[N] vector[2] z = ode_rk45(growth, z_init, 0, ts, alpha, theta, season, {1, 2});
  array[N, 2] real w = integrate_ode_rk45(old_growth, to_array_1d(z_init), 0.0, ts,
                                          {alpha, theta[1], theta[2], theta[3]}, {0.3, 0.1}, {2}, 1e-5, 1e-3, 500);
  alpha ~ normal(1, 0.5);
  theta ~ normal(0.5, 0.5);
  z_init ~ lognormal(log(10), 1);
  sigma ~ lognormal(-1, 1);
  for (n in 1 : N) {
    y[n] ~ lognormal(log(z[n]), sigma);
    to_vector(w[n]) ~ normal(y[n], 10 * sigma);
  }
}
