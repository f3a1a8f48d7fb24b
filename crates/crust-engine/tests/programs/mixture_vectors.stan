// A mixture of multivariate normals with shared Cholesky factor, and a two-component mixture by log_mix.
data {
  int<lower=1> N;
  int<lower=1> K;
  int<lower=1> D;
  array[N] vector[D] y;
}
parameters {
  simplex[K] pi_;
  array[K] vector[D] mu;
  cholesky_factor_cov[D] L;
  real<lower=0, upper=1> outlier;
}
model {
  vector[K] log_pi = log(pi_);
  pi_ ~ dirichlet(rep_vector(3, K));
  for (k in 1:K) mu[k] ~ normal(0, 3);
  to_vector(L) ~ normal(0, 2);
  outlier ~ beta(1, 9);
  for (n in 1:N) {
    vector[K] lp = log_pi;
    for (k in 1:K) lp[k] += multi_normal_cholesky_lpdf(y[n] | mu[k], L);
    target += log_mix(outlier, student_t_lpdf(y[n] | 3, 0, 5), log_sum_exp(lp));
  }
}
