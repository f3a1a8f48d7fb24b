// Logistic regression as the BREAD paper (appendix C) writes it, in the Stan of 2016. Data: ../pima/pima.json
data {
  int N;
  int K;
  matrix[N,K] x;
  int y[N];
}
parameters {
  real<lower=0> scale_sq;
  real alpha;
  vector[K] beta;
}
model {
  scale_sq ~ inv_gamma(1, 1);
  alpha ~ normal(0, sqrt(scale_sq));
  for (k in 1:K)
    beta[k] ~ normal(0, sqrt(scale_sq));
  {
    vector[N] mu;
    mu <- x * beta + alpha;
    for (i in 1:N)
      y[i] ~ bernoulli(inv_logit(mu[i]));
  }
}
