// The model of clustering.stan, as one would write it down.
data {
  int<lower=1> N;                 // points
  int<lower=1> D;                 // coordinates of each
  int<lower=1> K;                 // clusters
  real<lower=0> sigma_theta;      // deviation between clusters
  real<lower=0> sigma_n;          // deviation within a cluster
  array[N] vector[D] y;
}
parameters {
  array[K] vector[D] theta;       // centres
}
model {
  for (k in 1:K) {
    theta[k] ~ normal(0, sigma_theta);
  }
  for (n in 1:N) {
    vector[K] lp = rep_vector(-log(K), K);
    for (k in 1:K) {
      lp[k] += normal_lpdf(y[n] | theta[k], sigma_n);
    }
    target += log_sum_exp(lp);
  }
}
