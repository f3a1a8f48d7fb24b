// Assignment to elements and slices of vectors and row vectors.
data { array[2] int idx; }
transformed data {
  vector[4] v = rep_vector(0, 4);
  row_vector[4] w = rep_row_vector(0, 4);
  complex_vector[4] z = v;
  v[1] = 1;
  v[2 : 3] = [1, 2]';
  v[ : 2] = [1, 2]';
  v[3 : ] = v[ : 2];
  v[ : ] = v;
  v[] = v;
  v[idx] = [5, 6]';
  v[{4, 1}] = v[idx];
  v[idx[1]] = 9;
  w[1] = v[1];
  w[1 : 2] = [1, 2];
  w[idx] = w[1 : 2];
  w[3 : ] = v[3 : ]';
  z[1] = 1;
  z[2] = 3i;
  z[2 : 3] = [1, 2]';
  z[idx] = [1i, 2]' .* z[ : 2];
}
