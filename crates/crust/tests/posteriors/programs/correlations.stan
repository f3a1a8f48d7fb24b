// Known: beta marginals of the LKJ distribution, and its vine of independent partial correlations.
parameters {
  corr_matrix[3] Omega;
  cholesky_factor_corr[3] L;
}
model {
  Omega ~ lkj_corr(2);
  L ~ lkj_corr_cholesky(1.5);
}
generated quantities {
  real r_23 = dot_product(L[2], L[3]);
}
