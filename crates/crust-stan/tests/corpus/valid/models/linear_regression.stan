// Linear regression with weak priors, replicated data and pointwise log likelihood.
data {
  int<lower=1> n;
  vector[n] dose;
  vector[n] response;
}
parameters {
  real alpha;
  real beta;
  real<lower=0> sigma;
}
model {
  alpha ~ normal(0, 10);
  beta ~ normal(0, 5);
  sigma ~ exponential(0.5);
  response ~ normal(alpha + beta * dose, sigma);
}
generated quantities {
  vector[n] log_lik;
  array[n] real replicated = normal_rng(alpha + beta * dose, sigma);
  for (i in 1 : n) {
    log_lik[i] = normal_lpdf(response[i] | alpha + beta * dose[i], sigma);
  }
}
