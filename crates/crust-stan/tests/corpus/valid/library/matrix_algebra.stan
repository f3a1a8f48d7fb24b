// Linear algebra: products, decompositions, solves, spectral functions, special products.
data { int<lower=1> n; matrix[n, n] A; matrix[n, n] B; matrix[n, 3] C; vector[n] v; row_vector[n] w; cov_matrix[n] S; cholesky_factor_cov[n] L; }
transformed data {
  real a = determinant(A) + log_determinant(A) + log_determinant_spd(S) + trace(A) + trace_quad_form(A, B) + trace_gen_quad_form(A, B, A) + trace_dot(A, B) + quad_form(A, v) + quad_form_sym(S, v) + sum(singular_values(A));
  matrix[n, n] b = inverse(A) + inverse_spd(S) + chol2inv(L) + cholesky_decompose(S) + matrix_exp(A) + matrix_power(A, 3) + crossprod(A) + tcrossprod(A) + multiply_lower_tri_self_transpose(A) + quad_form(A, B) + quad_form_diag(A, v) + diag_pre_multiply(v, A) + diag_post_multiply(A, w) + add_diag(A, 1) + add_diag(A, v) + symmetrize_from_lower_tri(A) + generalized_inverse(A) + diag_matrix(v) + identity_matrix(n) + matrix_exp_multiply(A, B) + scale_matrix_exp_multiply(0.5, A, B);
  matrix[n, n] c = mdivide_left_tri_low(L, A) + mdivide_right_tri_low(A, L) + mdivide_left_spd(S, A) + mdivide_right_spd(A, S) + A \ B + A / B;
  vector[n] d = mdivide_left_tri_low(L, v) + mdivide_left_spd(S, v) + A \ v + diagonal(A) + eigenvalues_sym(S) + rows_dot_product(A, B) + rows_dot_self(A) + singular_values(A);
  row_vector[n] f = columns_dot_product(A, B) + columns_dot_self(A) + w / A + mdivide_right_tri_low(w, L) + mdivide_right_spd(w, S);
  tuple(matrix[n, n], vector[n]) g = eigendecompose_sym(S);
  tuple(complex_matrix[n, n], complex_vector[n]) h = eigendecompose(A);
  tuple(matrix[n, n], vector[n], matrix[n, n]) k = svd(A);
  tuple(matrix[n, n], matrix[n, n]) l = qr(A);
  matrix[n, n] p = eigenvectors_sym(S) + svd_U(A) + svd_V(A) + qr_Q(A) + qr_R(A) + qr_thin_Q(A) + qr_thin_R(A) + g.1 + k.3 + l.2;
  complex_vector[n] q = eigenvalues(A);
  complex_matrix[n, n] r = eigenvectors(A);
}
