// mistake: the controls of laplace_marginal_tol are not a tuple
functions {
  real ll(vector theta, array[] int y) {
    return poisson_log_lpmf(y | theta);
  }
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
  target += laplace_marginal_tol(ll, (y,), 1, cov, (a, n), 1e-6);
}
