data {
  int<lower=1> N;
  vector[N] x;
  array[N] int<lower=0> y;
}
parameters {
  real alpha;
  real beta;
  real<lower=0> inv_phi;
}
transformed parameters {
  real phi = inv(inv_phi);
}
model {
  alpha ~ normal(0, 2);
  beta ~ normal(0, 1);
  inv_phi ~ exponential(1);
  y ~ neg_binomial_2_log(alpha + beta * x, phi);
}
