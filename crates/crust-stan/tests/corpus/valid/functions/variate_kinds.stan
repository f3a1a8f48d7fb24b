// User densities whose variates are scalars, containers, complex values and tuples, and masses over integer containers.
functions {
  real d1_lpdf(real x) { return -x; }
  real d2_lpdf(vector x) { return -sum(x); }
  real d3_lpdf(matrix x, int k) { return -sum(x) * k; }
  real d4_lpdf(array[,] real x) { return -x[1, 1]; }
  real d5_lpdf(complex x) { return -abs(x); }
  real d6_lpdf(complex_vector x) { return -abs(x[1]); }
  real d7_lpdf(tuple(int, real) x) { return -x.2; }
  real d8_lpdf(array[] matrix x, array[] int k) { return -x[k[1], 1, 1]; }
  real m1_lpmf(int x) { return -x; }
  real m2_lpmf(array[] int x, real r) { return -sum(x) * r; }
  real m3_lpmf(array[,] int x) { return -x[1, 1]; }
  real m4_lpmf(tuple(int, array[] int) x) { return -x.1; }
}
data { int k; array[2] int ks; array[2, 2] int kss; tuple(int, array[2] int) tk; }
parameters { real x; vector[2] v; matrix[2, 2] m; array[2, 2] real a; complex z; complex_vector[2] zv; array[2] matrix[2, 2] am; }
model {
  x ~ d1(); v ~ d2(); m ~ d3(k); a ~ d4(); z ~ d5(); zv ~ d6(); (k, x) ~ d7(); am ~ d8(ks);
  k ~ m1(); ks ~ m2(x); kss ~ m3(); tk ~ m4();
  target += d2_lpdf(v) + d3_lupdf(m | k) + m1_lpmf(k) + m2_lupmf(ks | x) + d7_lpdf((1, 2.5) | );
}
