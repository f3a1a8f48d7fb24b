// mistake: laplace_marginal_poisson_log with a wrong argument of the likelihood
functions {
  matrix cov(real a, data int n) {
    return a * identity_matrix(n);
  }
}
data {
  int n;
  array[n] int y;
}
parameters {
  real<lower=0> a;
}
model {
  target += laplace_marginal_poisson_log_lpmf(y | {1}, 1, cov, (a, n));
}
