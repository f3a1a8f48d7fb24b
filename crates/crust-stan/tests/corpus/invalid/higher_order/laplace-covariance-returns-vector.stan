// mistake: the covariance function of laplace_marginal returns a vector
functions {
  real ll(vector theta, array[] int y) {
    return poisson_log_lpmf(y | theta);
  }
  vector cov(real a, data int n) {
    return rep_vector(a, n);
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
  target += laplace_marginal(ll, (y,), 1, cov, (a, n));
}
