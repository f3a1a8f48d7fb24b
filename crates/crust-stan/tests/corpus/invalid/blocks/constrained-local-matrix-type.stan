// mistake: a constrained matrix type for a local variable
model {
  cholesky_factor_corr[3] L;
}
