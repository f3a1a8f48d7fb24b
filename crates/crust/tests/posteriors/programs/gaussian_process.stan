// Known: f given y is normal, from the joint covariance of both.
data {
  int<lower=1> N;
  array[N] real x;
  vector[N] y;
}
transformed data {
  matrix[N, N] L = cholesky_decompose(add_diag(gp_exp_quad_cov(x, 1.5, 0.8),
                                               1e-9));
}
parameters {
  vector[N] eta;
}
transformed parameters {
  vector[N] f = L * eta;
}
model {
  eta ~ std_normal();
  y ~ normal(f, 0.6);
}
