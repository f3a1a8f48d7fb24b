// TADDAA, section 4.1: a normal distribution with correlations of 0.7, variances 10, 1, 1, ..., and mean 0.
data {
  int<lower=2> d;
}
transformed data {
  real rho = 0.7;
  vector[d] sd = rep_vector(1, d);
  matrix[d, d] L;
  sd[1] = sqrt(10);
  L = diag_pre_multiply(sd, cholesky_decompose(add_diag(rep_matrix(rho, d, d), 1 - rho)));
}
parameters {
  vector[d] x;
}
model {
  x ~ multi_normal_cholesky(rep_vector(0, d), L);
}
