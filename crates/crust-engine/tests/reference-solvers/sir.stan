// An epidemic, with its beginning and one of its times unknown.
functions {
  array[] real old_rates(real t, array[] real y, array[] real theta, array[] real x_r, array[] int x_i) {
    array[3] real rate;
    real infection = theta[1] * y[1] * y[2] / x_i[1];
    rate[1] = -infection;
    rate[2] = infection - theta[2] * y[2];
    rate[3] = theta[2] * y[2];
    return rate;
  }
  vector rates(real t, vector y, real beta, real gamma, int population) {
    real infection = beta * y[1] * y[2] / population;
    return [-infection, infection - gamma * y[2], gamma * y[2]]';
  }
}
data {
  int<lower=1> N;
  int<lower=1> population;
  array[N] real ts;
  array[N] int<lower=0> cases;
}
parameters {
  real<lower=0> beta;
  real<lower=0> gamma;
  real<lower=1> infected;
  real<upper=0> t0;
  real<lower=0> delay;
}
transformed parameters {
  array[N, 3] real y = integrate_ode_adams(old_rates, {population - infected, infected, 0.0}, 0.0, ts, {beta, gamma},
                                           rep_array(0.0, 0), {population}, 1e-8, 1e-7, 100000);
  array[N] real shifted;
  for (n in 1 : N) shifted[n] = ts[n] + delay;
  array[N] vector[3] z = ode_ckrk_tol(rates, [population - infected, infected, 0.0]', t0, shifted, 1e-7, 1e-6, 10000,
                                      beta, gamma, population);
  array[N] vector[3] w = ode_adams(rates, [population - 1, 1.0, 0.0]', -1, ts, beta, gamma, population);
}
model {
  beta ~ normal(2, 1);
  gamma ~ normal(0.4, 0.5);
  infected ~ lognormal(1, 1);
  t0 ~ normal(-1, 1);
  delay ~ exponential(1);
  cases ~ poisson(y[ : , 2]);
  for (n in 1 : N) {
    cases[n] ~ poisson(z[n, 2]);
    cases[n] ~ poisson(w[n, 2]);
  }
}
