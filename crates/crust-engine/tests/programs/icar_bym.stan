// Disease mapping: spatial effects by pairwise differences, and independent ones.
functions {
  real icar_normal_lpdf(vector phi, array[] int node1, array[] int node2) {
    return -0.5 * dot_self(phi[node1] - phi[node2]) + normal_lpdf(sum(phi) | 0, 0.001 * size(phi));
  }
}
data {
  int<lower=1> N;
  int<lower=1> E;
  array[E] int<lower=1, upper=N> node1;
  array[E] int<lower=1, upper=N> node2;
  array[N] int<lower=0> y;
  vector<lower=0>[N] expected;
  real<lower=0> scaling;
}
parameters {
  real beta0;
  real<lower=0> sigma;
  real<lower=0, upper=1> rho;
  vector[N] theta;
  vector[N] phi;
}
transformed parameters {
  vector[N] convolved = sqrt(1 - rho) * theta + sqrt(rho / scaling) * phi;
}
model {
  y ~ poisson_log(log(expected) + beta0 + convolved * sigma);
  phi ~ icar_normal(node1, node2);
  beta0 ~ normal(0, 1);
  theta ~ normal(0, 1);
  sigma ~ normal(0, 1);
  rho ~ beta(0.5, 0.5);
}
