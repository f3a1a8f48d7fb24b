// Predators and prey: an ordinary differential equation with lognormal measurements.
functions {
  vector rates(real t, vector z, real alpha, real beta, real gamma, real delta) {
    return [(alpha - beta * z[2]) * z[1], (-gamma + delta * z[1]) * z[2]]';
  }
}
data {
  int<lower=0> N;
  array[N] real<lower=0> ts;
  vector<lower=0>[2] y0;
  array[N] vector<lower=0>[2] y;
}
parameters {
  vector<lower=0, upper=2>[4] theta;
  vector<lower=0>[2] z0;
  vector<lower=0>[2] sigma;
}
transformed parameters {
  array[N] vector[2] z = ode_rk45_tol(rates, z0, 0, ts, 1e-10, 1e-10, 10000, theta[1], theta[2], theta[3], theta[4]);
}
model {
  theta[{1, 3}] ~ normal(1, 0.5);
  theta[{2, 4}] ~ normal(0.5, 0.5);
  sigma ~ lognormal(-1, 1);
  z0 ~ lognormal(0, 1);
  y0 ~ lognormal(log(z0), sigma);
  for (n in 1:N) y[n] ~ lognormal(log(z[n]), sigma);
}
