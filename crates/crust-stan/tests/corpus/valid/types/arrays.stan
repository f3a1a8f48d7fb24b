// Arrays of every element type, with one to five dimensions.
data {
  int<lower=1> a;
  int<lower=1> b;
  array[a] int i1;
  array[a, b] int i2;
  array[a, b, 2] int i3;
  array[a, b, 2, 3] real r4;
  array[a, b, 2, 3, a + b] real r5;
  array[a] complex z1;
  array[a, b] vector[3] v2;
  array[b] row_vector[a] rv1;
  array[a, b] matrix[a, b] m2;
  array[2] complex_vector[a] cv1;
  array[2] complex_row_vector[a] crv1;
  array[2] complex_matrix[a, b] cm1;
  array[2] simplex[3] s1;
  array[2, 2] ordered[3] o2;
  array[2] positive_ordered[3] po1;
  array[2] unit_vector[3] u1;
  array[2] sum_to_zero_vector[3] st1;
  array[2] sum_to_zero_matrix[3, 2] stm1;
  array[2] cov_matrix[3] c1;
  array[2] corr_matrix[3] k1;
  array[2] cholesky_factor_cov[3] lc1;
  array[2] cholesky_factor_cov[3, 2] lc2;
  array[2] cholesky_factor_corr[3] lk1;
  array[2] row_stochastic_matrix[3, 2] rs1;
  array[2] column_stochastic_matrix[3, 2] cs1;
  array[0] int none;
}
transformed data {
  array[2, 3] int nested;
  array[a, b, 2] vector[3] nested_v;
}
