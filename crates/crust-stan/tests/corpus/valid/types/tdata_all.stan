// Every sized type in transformed data, with declare-define where it is easy.
transformed data {
  int n = 3;
  real r = 1;
  complex z = r;
  vector[n] v = [1, 2, 3]';
  row_vector[n] rv = v';
  matrix[n, n] m = v * rv;
  complex_vector[n] cv = v;
  complex_row_vector[n] crv = rv;
  complex_matrix[n, n] cm = m;
  ordered[n] ord = v;
  positive_ordered[n] pord = v;
  simplex[n] s = v / sum(v);
  unit_vector[n] u = v / norm2(v);
  sum_to_zero_vector[n] stz = v - mean(v);
  sum_to_zero_matrix[2, 2] stzm = [[1, -1], [-1, 1]];
  column_stochastic_matrix[2, 2] csm = [[0.5, 0.25], [0.5, 0.75]];
  row_stochastic_matrix[2, 2] rsm = csm';
  cov_matrix[n] cov = identity_matrix(n);
  corr_matrix[n] cor = cov;
  cholesky_factor_cov[n] lcov = cholesky_decompose(cov);
  cholesky_factor_cov[n, n] lcov2 = lcov;
  cholesky_factor_corr[n] lcor = lcov;
  tuple(int, real) t = (1, 2);
  array[n] real a = {1, 2, 3};
}
