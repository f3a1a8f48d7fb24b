// Every unsized type as argument and as result.
functions {
  int f1(int x) { return x; }
  real f2(real x) { return x; }
  complex f3(complex x) { return x; }
  vector f4(vector x) { return x; }
  row_vector f5(row_vector x) { return x; }
  matrix f6(matrix x) { return x; }
  complex_vector f7(complex_vector x) { return x; }
  complex_row_vector f8(complex_row_vector x) { return x; }
  complex_matrix f9(complex_matrix x) { return x; }
  array[] int f10(array[] int x) { return x; }
  array[,] real f11(array[,] real x) { return x; }
  array[ , , ] complex f12(array[ , , ] complex x) { return x; }
  array[] vector f13(array[] vector x) { return x; }
  array[,,,] matrix f14(array[,,,] matrix x) { return x; }
  tuple(int, real) f15(tuple(int, real) x) { return x; }
  array[] tuple(vector, array[] int) f16(array[] tuple(vector, array[] int) x) { return x; }
  tuple(tuple(int, array[] matrix), complex) f17(tuple(tuple(int, array[] matrix), complex) x) { return x; }
  void f18(int x) { }
  array[] row_vector f19(array[] row_vector x) { return x; }
  array[] complex_matrix f20(array[] complex_matrix x) { return x; }
}
transformed data {
  vector[2] v = f4([1, 2]');
  array[1, 1] real a = f11({{1}});
  tuple(int, real) t = f15((1, 2));
  array[1] tuple(vector[2], array[2] int) b = f16({(v, {1, 2})});
  f18(f1(1));
}
