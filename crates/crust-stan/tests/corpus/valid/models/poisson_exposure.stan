// Poisson and negative binomial counts with exposure, switched by a flag in the data.
data {
  int<lower=1> n;
  array[n] int<lower=0> events;
  vector<lower=0>[n] exposure;
  vector[n] z;
  int<lower=0, upper=1> overdispersed;
}
transformed data {
  vector[n] log_exposure = log(exposure);
}
parameters {
  real a;
  real b;
  array[overdispersed ? 1 : 0] real<lower=0> phi;
}
transformed parameters {
  vector[n] eta = a + b * z + log_exposure;
}
model {
  a ~ normal(0, 2);
  b ~ normal(0, 1);
  if (overdispersed) {
    phi[1] ~ gamma(2, 0.5);
    events ~ neg_binomial_2_log(eta, phi[1]);
  } else {
    events ~ poisson_log(eta);
  }
}
