// mistake: laplace_latent_rng in the model block
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
  vector[n] z = laplace_latent_rng(ll, (y,), 1, cov, (a, n));
}
