// mistake: the likelihood of laplace_marginal returns a vector
functions {
  vector ll(vector theta, array[] int y) {
    return theta;
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
  target += laplace_marginal(ll, (y,), 1, cov, (a, n));
}
