// What the interpreter computes, beside what real Stan prints for it (library.txt). One variable per call, so that every
// value is found by its name.
functions {
  real triangle(int n) {
    return n == 0 ? 0 : n + triangle(n - 1);
  }
}
transformed data {
  vector[4] v = [3, -1.5, 2, 0.25]';
  row_vector[3] r = [1, 2, 4];
  matrix[2, 3] m = [[1, 2, 3], [4, 5, 6.5]];
  matrix[3, 3] s = [[4, 1, 0.5], [1, 3, 0], [0.5, 0, 2]];
  array[5] int k = {5, 3, 9, 3, 1};
  array[2, 3] real a = {{1, 2, 3}, {4, 5, 6}};
  // numbers
  real a1 = inv_logit(-3) + inv_logit(2) + logit(0.3) + log1p_exp(1.5) + log1p_exp(-40) + log1m_exp(-0.1);
  real a2 = log1m_exp(-5) + log_inv_logit(0.7) + log1m_inv_logit(0.7) + inv_cloglog(-0.3) + log_diff_exp(2, 1);
  real a3 = log_sum_exp(1, 2) + log_sum_exp(v) + fma(2, 3, 4) + fdim(3, 1) + fdim(1, 3) + fmod(7.5, 2) + hypot(3, 4);
  real a4 = lmultiply(2, 3) + lmultiply(0, 0) + ldexp(1.5, 3) + atan2(1, -1) + cbrt(27) + exp2(3) + expm1(0.1);
  real a5 = 2 ^ 0.5 + (-8) ^ 3 + square(3) + inv(4) + inv_sqrt(4) + inv_square(2) + step(-1) + step(0) + step(2);
  real a6 = round(2.5) + round(-2.5) + trunc(-2.7) + floor(-2.5) + ceil(-2.5) + abs(-2.5) + abs(-3);
  real a7 = e() + pi() + sqrt2() + log2() + log10() + log2(8) + log10(1000) + machine_precision();
  int b1 = to_int(-2.9) + to_int(2.9) * 10 + int_step(0.0) * 100 + int_step(1e-9) * 1000;
  int b2 = choose(10, 3) + 1000 * choose(3, 5);
  int b3 = rising_factorial(4, 3) + falling_factorial(6, 3);
  int b4 = -7 / 2 + 10 * (-7 % 2) + 100 * (7 %/% 2) + 1000 * (-7 %/% 2);
  int b5 = is_inf(1 / 0.0) + 10 * is_nan(0 / 0.0) + 100 * (1 < 2) + 1000 * !(2 == 2.0);
  int b6 = max(3, 4) + 10 * min(3, 4) + 100 * max(k) + 1000 * min(k);
  int b7 = size(m) + 10 * num_elements(a) + 1000 * rows(m) + 10000 * cols(r) + 100000 * rows(v) + 1000000 * size(a);
  array[3] int b8 = dims(rep_array(m, 7));
  // summaries
  real c1 = mean(v) + sd(v) + variance(v) + sum(v) + prod(v) + mean(k) + sd(k);
  int c2 = sum(k) + prod(k);
  real c3 = norm1(v) + norm2(v) + max(v) + min(v) + quantile(v, 0.3) + dot_self(v) + dot_product(r, r);
  array[2] real c4 = quantile(v, {0.25, 0.9});
  vector[4] c5 = cumulative_sum(v);
  array[5] int c6 = cumulative_sum(k);
  vector[4] c7 = sort_asc(v);
  array[5] int c8 = sort_desc(k);
  array[4] int c9 = sort_indices_asc(v);
  array[5] int c10 = sort_indices_desc(k);
  int c11 = rank(v, 3) + 10 * rank(k, 1);
  vector[4] c12 = softmax(v);
  vector[4] c13 = log_softmax(v);
  // building
  vector[5] d1 = linspaced_vector(5, -1, 2);
  vector[1] d2 = linspaced_vector(1, -1, 2);
  array[5] int d3 = linspaced_int_array(5, 1, 10);
  array[8] int d4 = linspaced_int_array(8, 1, 3);
  array[1] int d5 = linspaced_int_array(1, 1, 3);
  array[3] int d6 = linspaced_int_array(3, 4, 4);
  array[7] int d7 = linspaced_int_array(7, 1, 7);
  array[4] int d8 = linspaced_int_array(4, 1, 3);
  matrix[4, 2] d9 = rep_matrix(v, 2);
  matrix[2, 3] d10 = rep_matrix(r, 2);
  matrix[2, 2] d11 = identity_matrix(2);
  vector[3] d12 = one_hot_vector(3, 2) + uniform_simplex(3) + ones_vector(3);
  array[2, 2] real d13 = rep_array(0.5, 2, 2);
  // arranging
  vector[4] e1 = reverse(v);
  vector[2] e2 = head(v, 2);
  array[2] int e3 = tail(k, 2);
  vector[2] e4 = segment(v, 2, 2);
  vector[2] e5 = col(m, 2);
  row_vector[3] e6 = row(m, 2);
  vector[1] e7 = sub_col(m, 2, 3, 1);
  row_vector[2] e8 = sub_row(m, 1, 2, 2);
  matrix[2, 2] e9 = block(m, 1, 2, 2, 2);
  array[7] int e10 = append_array(k, {7, 8});
  matrix[2, 4] e11 = append_col(m, [7, 8]');
  matrix[3, 3] e12 = append_row(m, r);
  vector[5] e13 = append_row(9, v);
  row_vector[6] e14 = append_col(r, r);
  vector[6] e15 = to_vector(m);
  row_vector[6] e16 = to_row_vector(m);
  array[6] real e17 = to_array_1d(m);
  array[6] real e18 = to_array_1d(a);
  array[2, 3] real e19 = to_array_2d(m);
  matrix[3, 2] e20 = to_matrix(m, 3, 2);
  matrix[3, 2] e21 = to_matrix(m, 3, 2, 0);
  matrix[2, 3] e22 = to_matrix(a);
  matrix[2, 2] e23 = to_matrix(v, 2, 2, 0);
  matrix[2, 2] e24 = append_row([1, 2], [3, 4]);
  matrix[2, 2] e25 = append_col([1, 2]', [3, 4]');
  // linear algebra
  matrix[3, 3] f1 = inverse(s);
  real f2 = determinant(s) + log_determinant(s) + trace(s) + quad_form(s, [1, 2, 3]');
  matrix[3, 3] f3 = cholesky_decompose(s);
  vector[3] f4 = s \ [1, 2, 3]';
  row_vector[3] f5 = r / s;
  matrix[3, 3] f6 = crossprod(m);
  matrix[2, 2] f7 = tcrossprod(m);
  matrix[3, 3] f8 = quad_form_diag(s, [1, 2, 3]');
  matrix[3, 3] f9 = diag_pre_multiply([1, 2, 3], s) + diag_post_multiply(s, [3, 2, 1]) + add_diag(s, 10);
  vector[3] f10 = diagonal(s) + rows_dot_self(s) + columns_dot_self(s)';
  real f11 = distance(v, v + 1) + squared_distance(v, 2 * v);
  matrix[3, 3] f12 = matrix_power(s, 3);
  matrix[3, 3] f13 = symmetrize_from_lower_tri(s) + diag_matrix([1, 2, 3]');
  matrix[2, 3] f14 = m * s;
  vector[4] f15 = v .^ 2 + 2 ^ v - v .* v ./ 2 - (-v);
  vector[7] f16 = csr_extract_w(s);
  array[7] int f17 = csr_extract_v(s);
  array[4] int f18 = csr_extract_u(s);
  real f19 = triangle(10);
  // indexing
  matrix[2, 2] g1 = m[ : , {3, 1}];
  array[3] int g2 = k[{5, 1, 1}];
  array[0] int g3 = k[6:];
  vector[0] g4 = v[3:2];
  vector[3] g5 = v[2:];
  vector[2] g6 = v[:2];
  array[2] real g7 = a[ : , 2];
  print("a1 ", a1); print("a2 ", a2); print("a3 ", a3); print("a4 ", a4); print("a5 ", a5); print("a6 ", a6);
  print("a7 ", a7); print("b1 ", b1); print("b2 ", b2); print("b3 ", b3); print("b4 ", b4); print("b5 ", b5);
  print("b6 ", b6); print("b7 ", b7); print("b8 ", b8); print("c1 ", c1); print("c2 ", c2); print("c3 ", c3);
  print("c4 ", c4); print("c5 ", c5); print("c6 ", c6); print("c7 ", c7); print("c8 ", c8); print("c9 ", c9);
  print("c10 ", c10); print("c11 ", c11); print("c12 ", c12); print("c13 ", c13); print("d1 ", d1); print("d2 ", d2);
  print("d3 ", d3); print("d4 ", d4); print("d5 ", d5); print("d6 ", d6); print("d7 ", d7); print("d8 ", d8);
  print("d9 ", d9); print("d10 ", d10); print("d11 ", d11); print("d12 ", d12); print("d13 ", d13); print("e1 ", e1);
  print("e2 ", e2); print("e3 ", e3); print("e4 ", e4); print("e5 ", e5); print("e6 ", e6); print("e7 ", e7);
  print("e8 ", e8); print("e9 ", e9); print("e10 ", e10); print("e11 ", e11); print("e12 ", e12); print("e13 ", e13);
  print("e14 ", e14); print("e15 ", e15); print("e16 ", e16); print("e17 ", e17); print("e18 ", e18);
  print("e19 ", e19); print("e20 ", e20); print("e21 ", e21); print("e22 ", e22); print("e23 ", e23);
  print("e24 ", e24); print("e25 ", e25); print("f1 ", f1); print("f2 ", f2); print("f3 ", f3); print("f4 ", f4);
  print("f5 ", f5); print("f6 ", f6); print("f7 ", f7); print("f8 ", f8); print("f9 ", f9); print("f10 ", f10);
  print("f11 ", f11); print("f12 ", f12); print("f13 ", f13); print("f14 ", f14); print("f15 ", f15);
  print("f16 ", f16); print("f17 ", f17); print("f18 ", f18); print("f19 ", f19); print("g1 ", g1); print("g2 ", g2);
  print("g3 ", g3); print("g4 ", g4); print("g5 ", g5); print("g6 ", g6); print("g7 ", g7);
}
parameters {
  real x;
}
