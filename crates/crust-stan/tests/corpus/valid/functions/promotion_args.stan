// Promotion of arguments and results: int to real to complex, also in containers and tuples.
functions {
  real fr(real x) { return x; }
  complex fz(complex x) { return x; }
  real far(array[] real x) { return sum(x); }
  complex faz(array[] complex x) { return x[1]; }
  real far2(array[, ] real x) { return x[1, 1]; }
  complex fcv(complex_vector x) { return x[1]; }
  complex fcm(complex_matrix x) { return x[1, 1]; }
  complex facv(array[] complex_vector x) { return x[1, 1]; }
  real ft(tuple(real, array[] real) t) { return t.1; }
  real ret_int() { return 1; }
  complex ret_real() { return 1.5; }
  complex ret_int_z() { return 1; }
  array[] real ret_ints(array[] int x) { return x; }
  array[] complex ret_reals(array[] real x) { return x; }
  complex_vector ret_vec(vector x) { return x; }
  tuple(real, complex) ret_tuple(int i) { return (i, i); }
  real best(real x, real y) { return 1; }
  real best(int x, int y) { return 2; }
}
transformed data {
  int i = 1;
  array[2] int ai = {1, 2};
  array[2] real ar = {1, 2};
  vector[2] v = [1, 2]';
  real a = fr(i) + fr(2.5) + far(ai) + far({1, 2}) + far2({{1, 2}}) + ft((1, {1, 2})) + best(1, 2) + best(1, 2.0) + best(1.0, 2);
  complex b = fz(i) + fz(1.5) + fz(2i) + faz(ai) + faz(ar) + fcv(v) + fcm(v * v') + facv({v, v});
  complex c = ret_int() + ret_real() + ret_int_z();
  array[2] complex d = ret_ints(ai);
  array[2] complex f = ret_reals(ai);
  complex_vector[2] g = ret_vec(v);
}
