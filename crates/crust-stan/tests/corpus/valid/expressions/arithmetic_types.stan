// Arithmetic operators over all pairings of scalar, vector, row vector and matrix that exist.
data { int i; int j; real r; complex z; vector[2] v; row_vector[2] w; matrix[2, 2] m; complex_vector[2] zv; complex_matrix[2, 2] zm; }
transformed data {
  int a1 = i + j; int a2 = i - j; int a3 = i * j; int a4 = i %/% j; int a5 = i % j;
  real b1 = i + r; real b2 = r - i; real b3 = i * r; real b4 = r / i; real b5 = i ^ j; real b6 = r ^ r;
  vector[2] c1 = v + v; vector[2] c2 = v - 1; vector[2] c3 = 1 + v; vector[2] c4 = 2 * v; vector[2] c5 = v * 2; vector[2] c6 = v / r;
  row_vector[2] d1 = w + w; row_vector[2] d2 = w - r; row_vector[2] d3 = i * w; row_vector[2] d4 = w / 2;
  matrix[2, 2] e1 = m + m; matrix[2, 2] e2 = m + 1; matrix[2, 2] e3 = 1 - m; matrix[2, 2] e4 = m * m; matrix[2, 2] e5 = m / m; matrix[2, 2] e6 = m \ m; matrix[2, 2] e7 = m / r;
  real f1 = w * v; matrix[2, 2] f2 = v * w; vector[2] f3 = m * v; row_vector[2] f4 = w * m; vector[2] f5 = m \ v; row_vector[2] f6 = w / m;
  vector[2] g1 = v .* v; vector[2] g2 = v ./ v; vector[2] g3 = v .^ v; vector[2] g4 = v ./ r; vector[2] g5 = r ./ v; vector[2] g6 = v .^ 2; vector[2] g7 = 2 .^ v;
  row_vector[2] h1 = w .* w; row_vector[2] h2 = w ./ w; row_vector[2] h3 = w .^ w; row_vector[2] h4 = 1 ./ w;
  matrix[2, 2] k1 = m .* m; matrix[2, 2] k2 = m ./ m; matrix[2, 2] k3 = m .^ m; matrix[2, 2] k4 = 1 ./ m; matrix[2, 2] k5 = m .^ 0.5; matrix[2, 2] k6 = r .^ m;
  complex l1 = z + 1; complex l2 = r - z; complex l3 = z * z; complex l4 = z / 2; complex l5 = z ^ z; complex l6 = -z; complex l7 = z ^ 2;
  complex_vector[2] n1 = zv + v; complex_vector[2] n2 = z * zv; complex_vector[2] n3 = zm * zv; complex_vector[2] n4 = zm * v; complex_vector[2] n5 = zv .* zv; complex_vector[2] n6 = zv ./ v;
  complex_matrix[2, 2] o1 = zm * zm; complex_matrix[2, 2] o2 = zm + m; complex_matrix[2, 2] o3 = z * m; complex_matrix[2, 2] o4 = zm / z; complex o5 = zv' * zv;
}
