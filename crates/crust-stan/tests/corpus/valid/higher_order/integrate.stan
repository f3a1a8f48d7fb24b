// One-dimensional quadrature with finite and infinite bounds, with and without tolerance.
functions {
  real bell(real x, real xc, array[] real theta, data array[] real x_r, data array[] int x_i) {
    return exp(-0.5 * square((x - theta[1]) / theta[2]));
  }
  real plain(real x, real xc, array[] real theta, array[] real x_r, array[] int x_i) {
    return x * x_r[1] + x_i[1];
  }
}
data { array[1] real x_r; array[1] int x_i; real y; }
transformed data { array[0] real nothing; real area = integrate_1d(plain, 0, 1, {1.0}, {2.0}, {3}); }
parameters { real m; real<lower=0> s; }
model {
  y ~ normal(m, s);
  target += -log(integrate_1d(bell, negative_infinity(), positive_infinity(), {m, s}, x_r, x_i));
  target += -log(integrate_1d(bell, 0, 10, {m, s}, x_r, x_i, 1e-8));
  target += integrate_1d(plain, m, m + 1, {s}, x_r, x_i, 1e-6);
}
