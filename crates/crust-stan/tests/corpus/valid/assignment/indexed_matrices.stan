// Assignment to elements, rows, columns and blocks of matrices.
data { array[2] int idx; int i; }
transformed data {
  matrix[3, 3] m = rep_matrix(0, 3, 3);
  complex_matrix[3, 3] z = m;
  m[1, 1] = 1;
  m[1][2] = 2;
  m[1] = [1, 2, 3];
  m[i] = m[1];
  m[ : , 1] = [1, 2, 3]';
  m[, 2] = m[, 1];
  m[1, 2 : 3] = [4, 5];
  m[1, ] = [1, 2, 3];
  m[2 : 3, 1] = [4, 5]';
  m[1 : 2] = m[2 : 3];
  m[1 : 2, 1 : 2] = [[1, 2], [3, 4]];
  m[idx] = m[1 : 2];
  m[idx, idx] = m[ : 2, 2 : ];
  m[{1}, ] = [[1, 2, 3]];
  m[, {3, 1}] = m[, 1 : 2];
  m[2 : , idx] = m[idx, 2 : ];
  m[ : , : ] = m';
  m[] = m;
  z[1, 1] = 2;
  z[1] = [1, 2, 3];
  z[ : , 2] = m[ : , 1];
  z[idx, idx] = m[idx, idx];
}
