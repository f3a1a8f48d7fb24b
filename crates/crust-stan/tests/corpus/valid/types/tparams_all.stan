// Every non-integer sized type in transformed parameters.
parameters {
  vector[3] w;
}
transformed parameters {
  real r = w[1];
  complex z = to_complex(w[1], w[2]);
  vector[3] v = 2 * w;
  row_vector[3] rv = w';
  matrix[3, 3] m = w * w';
  complex_vector[3] cv = w;
  complex_row_vector[3] crv = w' * 1i;
  complex_matrix[3, 3] cm = m;
  ordered[3] ord = cumulative_sum(exp(w));
  positive_ordered[3] pord = ord;
  simplex[3] s = softmax(w);
  unit_vector[3] u = w / norm2(w);
  sum_to_zero_vector[3] stz = w - mean(w);
  sum_to_zero_matrix[2, 2] stzm = r * [[1, -1], [-1, 1]];
  column_stochastic_matrix[3, 2] csm = append_col(s, s);
  row_stochastic_matrix[2, 3] rsm = csm';
  cov_matrix[3] cov = add_diag(m, 1);
  corr_matrix[2] cor = [[1, tanh(r)], [tanh(r), 1]];
  cholesky_factor_cov[3] lcov = cholesky_decompose(cov);
  cholesky_factor_corr[2] lcor = cholesky_decompose(cor);
  tuple(real, vector[3]) t = (r, w);
  array[2] vector[3] a = {w, v};
}
