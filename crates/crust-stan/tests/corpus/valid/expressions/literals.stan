// Array, row-vector, matrix and tuple literals, nested and mixed.
data { real r; int n; vector[2] v; row_vector[2] w; matrix[2, 2] m; }
transformed data {
  array[3] int a1 = {1, 2, n};
  array[3] real a2 = {1, r, 2.5};
  array[2, 2] int a3 = {{1, 2}, {3, 4}};
  array[2, 2] real a4 = {{1, 2}, {3, r}};
  array[1] int a5 = {1};
  array[2] vector[2] a6 = {v, [1, 2]'};
  array[2] row_vector[2] a7 = {w, [1, 2]};
  array[2] matrix[2, 2] a8 = {m, [w, w]};
  array[2] complex a9 = {1, 2i};
  array[2, 1] tuple(int, real) a10 = {{(1, 2)}, {(3, r)}};
  row_vector[3] b1 = [1, r, n];
  row_vector[1] b2 = [r];
  row_vector[2] b3 = [sum(v), v[1] + 1];
  matrix[2, 2] c1 = [[1, 2], [3, 4]];
  matrix[2, 2] c2 = [w, [1, r]];
  matrix[1, 2] c3 = [w];
  matrix[2, 2] c4 = [v', w];
  matrix[2, 1] c5 = [[1], [2]];
  complex_row_vector[2] d1 = [1, 2i];
  complex_matrix[2, 2] d2 = [[1, 2], [3i, r]];
  tuple(int, real) e1 = (1, 2.5);
  tuple(array[2] int, row_vector[2], tuple(vector[2], matrix[2, 2])) e2 = ({1, 2}, [1, 2], (v, m));
  tuple(int, int, int, int, int) e3 = (1, 2, 3, 4, 5);
  real f1 = {1, 2, 3}[2];
  real f2 = [1, 2, 3][2];
  real f3 = [[1, 2], [3, 4]][2, 1];
  real f4 = (1, 2.5).2;
  array[2] int f5 = {1, 2, 3}[1 : 2];
  real f6 = {v, v}[1][2];
}
