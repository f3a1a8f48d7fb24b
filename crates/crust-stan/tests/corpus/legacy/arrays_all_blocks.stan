// Retired: array dimensions after the name in transformed data, parameters, model and generated quantities, also local.
data {
  int<lower=1> n;
}
transformed data {
  int idx[n];
  real tmp[2, n];
  for (i in 1:n) {
    idx[i] = i;
    tmp[1, i] = i;
    tmp[2, i] = -i;
  }
}
parameters {
  real<lower=0> tau[n];
  vector[2] mu[n];
  simplex[3] p[2];
}
transformed parameters {
  vector[2] shifted[n];
  for (i in 1:n) shifted[i] = mu[i] + tau[i];
}
model {
  real acc[3];
  vector[2] loc[2];
  for (i in 1:3) acc[i] = i;
  for (i in 1:n) mu[i] ~ normal(0, tau[i]);
}
generated quantities {
  int draw[n];
  real lik[n, 2];
  for (i in 1:n) {
    draw[i] = poisson_rng(tau[i]);
    lik[i, 1] = 0;
    lik[i, 2] = 1;
  }
}
