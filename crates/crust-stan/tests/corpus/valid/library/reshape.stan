// Construction, repetition, appending, slicing and reshaping of containers.
data { int<lower=2> n; vector[n] v; row_vector[n] w; matrix[n, n] m; array[n] int ai; array[n] real ar; array[n, n] real ar2; array[n] vector[n] av; array[n] row_vector[n] aw; complex_vector[n] zv; complex_matrix[n, n] zm; }
transformed data {
  vector[n] a = rep_vector(1, n) + linspaced_vector(n, 0, 1) + ones_vector(n) + zeros_vector(n) + one_hot_vector(n, 1) + uniform_simplex(n) + to_vector(w) + to_vector(ai) + to_vector(ar) + col(m, 1) + sub_col(m, 1, 1, n);
  row_vector[n] b = rep_row_vector(1, n) + linspaced_row_vector(n, 0, 1) + ones_row_vector(n) + zeros_row_vector(n) + one_hot_row_vector(n, 1) + to_row_vector(v) + to_row_vector(ar) + row(m, 1) + sub_row(m, 1, 1, n);
  matrix[n, n] c = rep_matrix(0, n, n) + rep_matrix(v, n) + rep_matrix(w, n) + to_matrix(ar2) + to_matrix(to_vector(m), n, n) + to_matrix(aw) + to_matrix(m, n, n, 0) + to_matrix(to_array_1d(m), n, n) + block(m, 1, 1, n, n) + transpose(m);
  array[n] int d = rep_array(1, n); array[n, 2] int d2 = rep_array(1, n, 2); array[2, n, 3] real d3 = rep_array(1.5, 2, n, 3); array[n] vector[n] d4 = rep_array(v, n); array[2, 2] matrix[n, n] d5 = rep_array(m, 2, 2);
  array[n] int f = linspaced_int_array(n, 1, n); array[n] real f2 = linspaced_array(n, 0, 1); array[n] int f3 = ones_int_array(n); array[n] real f4 = zeros_array(n); array[n] int f5 = one_hot_int_array(n, 1); array[n] real f6 = ones_array(n); array[n] int f7 = zeros_int_array(n); array[n] real f8 = one_hot_array(n, 2);
  matrix[n, 2 * n] g = append_col(m, m); matrix[n, n + 1] g2 = append_col(m, v); matrix[n, n + 1] g3 = append_col(v, m); matrix[n, 2] g4 = append_col(v, v); row_vector[n + 1] g5 = append_col(w, 1.5); row_vector[n + 1] g6 = append_col(1, w); row_vector[2 * n] g7 = append_col(w, w);
  matrix[n + 1, n] h = append_row(m, w); matrix[n + 1, n] h2 = append_row(w, m); vector[n + 1] h3 = append_row(v, 1); vector[2 * n] h4 = append_row(v, v); matrix[2, n] h5 = append_row(w, w); vector[n + 1] h6 = append_row(0.5, v);
  array[2 * n] int k = append_array(ai, ai); array[2 * n] vector[n] k2 = append_array(av, av); array[2 * n] real k3 = append_array(ar, ar);
  vector[2] l = head(v, 2) + tail(v, 2) + segment(v, 1, 2); array[2] int l2 = head(ai, 2); array[2, n] real l3 = tail(ar2, 2); array[2] vector[n] l4 = segment(av, 1, 2); row_vector[2] l5 = head(w, 2);
  array[n * n] real p = to_array_1d(m); array[n, n] real p2 = to_array_2d(m); array[n] real p3 = to_array_1d(v); array[n * n] real p4 = to_array_1d(ar2);
  complex_vector[n] q = to_complex(v, v); complex_matrix[n, n] q2 = zv * transpose(zv); complex_vector[n * n] q3 = to_vector(zm); complex_matrix[n, 2 * n] q4 = append_col(zm, zm); complex_vector[2 * n] q5 = append_row(zv, zv);
  int s = to_int(3.7); array[n] int s2 = to_int(ar);
}
