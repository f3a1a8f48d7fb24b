// Every sized type in generated quantities.
transformed data {
  int n = 2;
}
generated quantities {
  int m_count = n + 1;

  real r = uniform_rng(0, 1);
  complex z = to_complex(r, -r);
  vector[n] v = to_vector(normal_rng(rep_vector(0, n), 1));
  row_vector[n] rv = v';
  matrix[n, n] m = v * rv;
  complex_vector[n] cv = z * v;
  complex_row_vector[n] crv = cv';
  complex_matrix[n, n] cm = cv * crv;
  ordered[n] ord = sort_asc(v);
  positive_ordered[n] pord = sort_asc(exp(v));
  simplex[n] s = dirichlet_rng(rep_vector(1, n));
  unit_vector[n] u = v / norm2(v);
  sum_to_zero_vector[n] stz = v - mean(v);
  sum_to_zero_matrix[n, n] stzm = r * [[1, -1], [-1, 1]];
  column_stochastic_matrix[n, n] csm = append_col(s, s);
  row_stochastic_matrix[n, n] rsm = append_row(s', s');
  cov_matrix[n] cov = wishart_rng(5, identity_matrix(n));
  corr_matrix[n] cor = lkj_corr_rng(n, 2);
  cholesky_factor_cov[n] lcov = cholesky_decompose(cov);
  cholesky_factor_corr[n] lcor = lkj_corr_cholesky_rng(n, 1.5);
  tuple(int, vector[n]) t = (n, v);
  array[n, n] int a = {{1, 2}, {3, 4}};
}
