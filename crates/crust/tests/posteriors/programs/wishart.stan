// Known: moments of Wishart matrices, of their inverses and (Bartlett) of their Cholesky factors.
data {
  int K;
  real nu;
  real nu_inverse;
  cov_matrix[K] S;
}
parameters {
  cov_matrix[K] W;
  cov_matrix[K] V;
  cholesky_factor_cov[K] L;
}
model {
  W ~ wishart(nu, S);
  V ~ inv_wishart(nu_inverse, S);
  L ~ wishart_cholesky(nu, identity_matrix(K));
}
