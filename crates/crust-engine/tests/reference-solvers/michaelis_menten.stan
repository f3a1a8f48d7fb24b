// One compartment with absorption of first order and elimination after Michaelis and Menten, for several subjects.
functions {
  vector elimination(real t, vector y, real v_m, real k_m, real k_a, real dose) {
    real absorbed = t > 0 ? dose * exp(-k_a * t) * k_a : 0;
    return [-v_m * y[1] / (k_m + y[1]) + absorbed]';
  }
}
data {
  int<lower=1> N;
  int<lower=1> S;
  array[N] real times;
  vector[S] dose;
  array[S] vector<lower=0>[N] concentration;
}
parameters {
  real<lower=0> k_a;
  real<lower=0> k_m;
  real<lower=0> v_m;
  real<lower=0> sigma;
}
model {
  k_a ~ cauchy(0, 1);
  k_m ~ cauchy(0, 1);
  v_m ~ cauchy(0, 1);
  sigma ~ cauchy(0, 1);
  for (s in 1 : S) {
    array[N] vector[1] mu = ode_bdf_tol(elimination, [0.0]', 0.0, times, 1e-8, 1e-8, 1000, v_m, k_m, k_a, dose[s]);
    for (n in 1 : N) {
      concentration[s, n] ~ lognormal(log(mu[n, 1]), sigma);
    }
  }
}
