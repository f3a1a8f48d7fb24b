// Tuple destructuring from variables, literals and calls; nested; into indexed and member targets.
functions {
  tuple(real, real) mean_sd(vector v) {
    return (mean(v), sd(v));
  }
  tuple(int, tuple(real, vector)) nested(vector v) {
    return (size(v), (sum(v), v));
  }
}
data { vector[3] y; matrix[3, 3] A; }
transformed data {
  real m; real s; int k; vector[3] v; array[2] int ai; vector[2] w; tuple(int, real) t; matrix[3, 3] q; matrix[3, 3] r; complex z;
  (m, s) = mean_sd(y);
  (m, s) = (1, 2);
  (k, (m, v)) = nested(y);
  (k, s) = (s > 0 ? 1 : 2, m);
  (ai[1], w[1]) = (1, 2.5);
  (t.1, t.2) = (4, 5);
  (k, t) = (1, (2, 3));
  (k, (t.1, t.2)) = (1, (2, 3.5));
  (q, r) = qr_thin(A);
  (q[1], r[ : , 1]) = ([1, 2, 3], [4, 5, 6]');
  (z, m) = (m, 1);
  (m, s) = (s, m);
}
generated quantities {
  vector[3] values; matrix[3, 3] vectors;
  (vectors, values) = eigendecompose_sym(crossprod(A));
}
