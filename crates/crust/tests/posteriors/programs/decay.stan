// Known: the equation has the solution A·exp(−kt); quadrature over A and k.
functions {
  vector decay(real t, vector state, real k) {
    return -k * state;
  }
}
data {
  int<lower=1> N;
  array[N] real t;
  vector[N] y;
}
parameters {
  real<lower=0, upper=3> k; // no posterior beyond, but steps of warm-up that are slow to solve
  real<lower=0> A;
}
model {
  k ~ lognormal(-0.5, 0.7);
  A ~ normal(2, 1);
  array[N] vector[1] state = ode_rk45(decay, [A]', 0, t, k);
  for (n in 1 : N) 
    y[n] ~ normal(state[n, 1], 0.2);
}
