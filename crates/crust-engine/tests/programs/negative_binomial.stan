// Overdispersed counts whose dispersion differs between two kinds of sites.
data {
  int<lower=0> N;
  vector[N] x;
  array[N] int<lower=1, upper=2> kind;
  array[N] int<lower=0> y;
}
parameters {
  real alpha;
  real beta;
  vector<lower=0>[2] inverse_phi;
}
transformed parameters {
  vector[2] phi = inv_square(inverse_phi + 0.1);
}
model {
  alpha ~ normal(0, 2);
  beta ~ normal(0, 1);
  inverse_phi ~ normal(0, 1);
  y ~ neg_binomial_2_log(alpha + beta * x, phi[kind]);
  sum(y) ~ neg_binomial(3, inverse_phi[1]);
}
