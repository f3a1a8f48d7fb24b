// Eruptions of a geyser fall into K kinds: a mixture of Gaussians, the component of each eruption summed out.
data {
  int<lower=1> N;                 // eruptions
  int<lower=1> D;                 // measurements of each
  int<lower=1> K;                 // kinds
  array[N] vector[D] y;           // measurements, standardised
}
parameters {
  real<lower=0> scale_sq;         // variance between kinds
  real<lower=0> sigma_sq;         // variance within a kind
  array[K] vector[D] mu;          // centres
  simplex[K] pi;                  // shares
}
model {
  scale_sq ~ inv_gamma(1, 1);
  sigma_sq ~ inv_gamma(1, 1);
  for (k in 1:K) {
    mu[k] ~ normal(0, sqrt(scale_sq));
  }
  pi ~ dirichlet(rep_vector(1, K));
  for (n in 1:N) {
    vector[K] lp = log(pi);
    for (k in 1:K) {
      lp[k] += normal_lpdf(y[n] | mu[k], sqrt(sigma_sq));
    }
    target += log_sum_exp(lp);
  }
}
