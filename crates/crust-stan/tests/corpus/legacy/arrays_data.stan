// Retired: array dimensions after the variable name, in the data block, with every element type and constraint.
data {
  int<lower=1> n;
  int<lower=1> k;
  int y[n];
  int<lower=0, upper=1> flag[n];
  real x[n];
  real<lower=0> w[n, k];
  vector[k] v[n];
  row_vector[k] r[n];
  matrix[k, k] m[n, 2];
  vector<lower=0>[k] pos[n];
  simplex[k] s[n];
  ordered[k] o[2, 3];
  cov_matrix[k] S[n];
  cholesky_factor_corr[k] L[n];
  int cube[n, k, 2];
}
