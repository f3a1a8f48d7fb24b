// mistake: a Cholesky factor with three sizes
parameters {
  cholesky_factor_cov[3, 3, 3] L;
}
