// Drug concentration: one compartment with first-order absorption and saturated elimination.
functions {
  vector one_comp(real t, vector z, real ka, real Vm, real Km) {
    vector[1] dz;
    dz[1] = ka * exp(-ka * t) - Vm * z[1] / (Km + z[1]);
    return dz;
  }
}
data { int N; array[N] real t; array[N] real c; vector[1] c0; }
parameters { real<lower=0> ka; real<lower=0> Vm; real<lower=0> Km; real<lower=0> sigma; }
model {
  array[N] vector[1] mu = ode_rk45(one_comp, c0, 0.0, t, ka, Vm, Km);
  ka ~ lognormal(0, 0.5);
  Vm ~ lognormal(0, 0.5);
  Km ~ lognormal(0, 0.5);
  sigma ~ normal(0, 1);
  for (n in 1:N) c[n] ~ lognormal(log(mu[n, 1] + 1e-3), sigma);
}
