// Every sized type in the parameters block (no integers).
data {
  int n;
}
parameters {
  real r;
  complex z;
  vector[n] v;
  row_vector[n] rv;
  matrix[n, n + 1] m;
  complex_vector[n] cv;
  complex_row_vector[n] crv;
  complex_matrix[n, 2] cm;
  ordered[n] ord;
  positive_ordered[n] pord;
  simplex[n] s;
  unit_vector[n] u;
  sum_to_zero_vector[n] stz;
  sum_to_zero_matrix[n, n] stzm;
  column_stochastic_matrix[n, 3] csm;
  row_stochastic_matrix[n, 3] rsm;
  cov_matrix[n] cov;
  corr_matrix[n] cor;
  cholesky_factor_cov[n] lcov;
  cholesky_factor_cov[n + 1, n] lcov2;
  cholesky_factor_corr[n] lcor;
  tuple(real, complex) t;
  array[n] real a;
}
