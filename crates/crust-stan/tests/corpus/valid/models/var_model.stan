// Vector autoregression of order p with a Minnesota-like prior.
data {
  int<lower=1> T;
  int<lower=1> k;
  int<lower=1> p;
  array[T] vector[k] y;
}
parameters {
  vector[k] c;
  array[p] matrix[k, k] A;
  cholesky_factor_corr[k] L;
  vector<lower=0>[k] s;
}
model {
  array[T - p] vector[k] mu;
  for (t in 1 : (T - p)) {
    mu[t] = c;
    for (l in 1 : p) mu[t] += A[l] * y[t + p - l];
  }
  for (l in 1 : p) {
    for (i in 1 : k) {
      for (j in 1 : k) {
        A[l, i, j] ~ normal(l == 1 && i == j ? 1 : 0, 0.2 / l);
      }
    }
  }
  L ~ lkj_corr_cholesky(3);
  s ~ normal(0, 1);
  y[(p + 1) : ] ~ multi_normal_cholesky(mu, diag_pre_multiply(s, L));
}
