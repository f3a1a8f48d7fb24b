// An autoregression of second order.
data {
  int<lower=3> N;
  vector[N] y;
}
parameters {
  real alpha;
  real phi1;
  real phi2;
  real<lower=0> sigma;
}
model {
  alpha ~ normal(0, 2);
  phi1 ~ normal(0, 1);
  phi2 ~ normal(0, 1);
  sigma ~ normal(0, 2);
  y[3:N] ~ normal(alpha + phi1 * y[2:(N - 1)] + phi2 * y[1:(N - 2)], sigma);
}
