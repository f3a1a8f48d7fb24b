// Weibull survival times, some censored.
data {
  int<lower=1> N;
  int<lower=1> M;
  vector[N] x;
  vector<lower=0>[N] t;
  vector[M] x_censored;
  vector<lower=0>[M] t_censored;
}
parameters {
  real alpha;
  real beta;
  real<lower=0> shape;
}
model {
  alpha ~ normal(0, 3);
  beta ~ normal(0, 1);
  shape ~ gamma(2, 1);
  t ~ weibull(shape, exp(alpha + beta * x));
  for (m in 1:M) {
    target += weibull_lccdf(t_censored[m] | shape, exp(alpha + beta * x_censored[m]));
  }
}
