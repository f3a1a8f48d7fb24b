// Chemical kinetics with fast and slow reactions, after Robertson: a stiff system.
functions {
  vector kinetics(real t, vector y, real slow, real fast, real quick) {
    real a = slow * y[1];
    real b = fast * y[2] * y[3];
    real c = quick * square(y[2]);
    return [-a + b, a - b - c, c]';
  }
}
data { int T; array[T] real ts; array[T] vector[3] y; }
parameters { real<lower=0> slow; real<lower=0> fast; real<lower=0> quick; real<lower=0> sigma; }
model {
  slow ~ lognormal(-3, 1);
  fast ~ lognormal(3, 1);
  quick ~ lognormal(5, 1);
  sigma ~ normal(0, 1);
  array[T] vector[3] mu = ode_bdf(kinetics, [1, 0, 0]', 0, ts, 0.05 * slow, 50 * fast, 500 * quick);
  for (t in 1 : T) y[t] ~ normal(mu[t], sigma);
}
