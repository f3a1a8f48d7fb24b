// Tuple member access, chained with itself, with indexes and calls.
functions {
  tuple(int, tuple(real, vector)) make(real r) {
    return (1, (r, [r, r]'));
  }
}
data {
  tuple(int, real) t;
  tuple(tuple(int, real), tuple(vector[3], tuple(matrix[2, 2], array[2] int))) n;
  array[3] tuple(int, vector[3]) a;
  array[2, 2] tuple(real, array[2] tuple(int, int)) b;
  tuple(int, int, int, int, int, int, int, int, int, int, int, int) dozen;
}
transformed data {
  int i1 = t.1;
  real r1 = t.2;
  int i2 = n.1.1;
  real r2 = n.1.2;
  real r3 = n.2.1[3];
  vector[2] v1 = n.2.1[1 : 2];
  real r4 = n.2.2.1[1, 2];
  int i3 = n.2.2.2[2];
  int i4 = a[1].1;
  real r5 = a[2].2[3];
  vector[2] v2 = a[2].2[{1, 3}];
  int i5 = b[1, 2].2[1].2;
  int i6 = b[1][2].2[2].1;
  int i7 = (t).1;
  int i8 = (1, 2).2;
  real r6 = make(2).2.1;
  real r7 = make(2).2.2[1];
  real r8 = -t.2 ^ 2 + t.1 * 2;
  int i9 = dozen.12 + dozen.1;
  vector[3] v3 = a[t.1].2 + n.2.1;
  array[2] tuple(int, vector[3]) sub = a[2 : ];
  real r9 = a[1 : 2][1].2[1];
  row_vector[3] rv = n.2.1';
}
