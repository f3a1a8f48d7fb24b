// All index forms on arrays of scalars, vectors, matrices and tuples, to several levels.
data {
  int<lower=3> n;
  array[n] int a;
  array[n, n] real b;
  array[n, n, n] int c;
  array[n] vector[n] v;
  array[n, 2] matrix[n, n] m;
  array[n] tuple(int, real) t;
  array[2] int idx;
}
transformed data {
  int a1 = a[1]; array[2] int a2 = a[1 : 2]; array[n - 1] int a3 = a[2 : ]; array[2] int a4 = a[ : 2];
  array[n] int a5 = a[ : ]; array[n] int a6 = a[]; array[2] int a7 = a[idx]; int a8 = a[a[1]]; array[2] int a9 = a[a[idx]];
  array[n] real b1 = b[1]; real b2 = b[1, 2]; array[n] real b3 = b[, 2]; array[2] real b4 = b[idx, 1]; array[2, n] real b5 = b[idx];
  array[2, 2] real b6 = b[idx, idx]; array[2] real b7 = b[1, idx]; array[n, 2] real b8 = b[ : , : 2]; real b9 = b[idx, idx][1, 2];
  array[n, n] int c1 = c[1]; array[n] int c2 = c[1, 2]; int c3 = c[1, 2, 3]; array[n] int c4 = c[1, : , 3]; array[n, 2] int c5 = c[ : , 2, idx];
  array[2, n] int c6 = c[idx, 1]; array[2, 2, 2] int c7 = c[1 : 2, : 2, idx]; int c8 = c[1][2][3]; int c9 = c[1, 2][3];
  vector[n] v1 = v[1]; real v2 = v[1, 2]; real v3 = v[1][2]; array[n] real v4 = v[, 1]; array[2] vector[n] v5 = v[idx];
  array[2] vector[2] v6 = v[idx, idx]; vector[2] v7 = v[1, : 2]; array[n] vector[n] v8 = v[ : , : ]; array[2] real v9 = v[ : 2, 1];
  array[2] matrix[n, n] m1 = m[1]; matrix[n, n] m2 = m[1, 2]; row_vector[n] m3 = m[1, 2, 3]; real m4 = m[1, 2, 3, 1]; vector[n] m5 = m[1, 2, : , 1];
  array[n] matrix[n, n] m6 = m[, 1]; array[n, 2] row_vector[n] m7 = m[ : , : , 1]; array[n, 2] vector[n] m8 = m[ : , : , : , 1]; array[n, 2] real m9 = m[ : , : , 1, 1];
  array[2, 2] matrix[2, 2] m10 = m[idx, : , idx, idx]; array[n] vector[2] m11 = m[ : , 1, idx, 2];
  int t1 = t[1].1; array[2] tuple(int, real) t2 = t[idx]; real t3 = t[idx][2].2; array[n] tuple(int, real) t4 = t[];
}
