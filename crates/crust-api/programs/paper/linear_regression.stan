// Linear regression as the BREAD paper (appendix C) writes it, in the Stan of 2016. Data: ../nhefs/nhefs.json
data {
  int N;
  int K;
  matrix[N,K] x;
  vector[N] y;
}
parameters {
  real<lower=0> sigma_sq;
  real<lower=0> scale_sq;
  real alpha;
  vector[K] beta;
}
model {
  sigma_sq ~ inv_gamma(1, 1);
  scale_sq ~ inv_gamma(1, 1);
  alpha ~ normal(0, sqrt(scale_sq));
  for (k in 1:K)
    beta[k] ~ normal(0, sqrt(scale_sq));
  {
    vector[N] mu;
    mu <- x * beta + alpha;
    for (i in 1:N)
      y[i] ~ normal(mu[i], sqrt(sigma_sq));
  }
}
