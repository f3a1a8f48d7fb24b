// Overloads of one user function by type, arity and suffix; overload of a library name.
functions {
  real size_of(int x) { return 1; }
  real size_of(real x) { return 1.5; }
  real size_of(complex x) { return 2; }
  int size_of(vector x) { return num_elements(x); }
  int size_of(row_vector x) { return num_elements(x); }
  int size_of(matrix x) { return rows(x) * cols(x); }
  int size_of(array[] int x) { return size(x); }
  int size_of(array[] real x) { return -size(x); }
  int size_of(array[, ] real x) { return size(x); }
  int size_of(array[] vector x) { return size(x); }
  int size_of(tuple(int, real) x) { return 2; }
  int size_of(int a, int b) { return 2; }
  int size_of() { return 0; }
  real clamp_lpdf(real x, real a) { return -abs(x - a); }
  real clamp_lpdf(vector x, real a) { return -sum(abs(x - a)); }
  real clamp_lpmf(int x, real a) { return -abs(x - a); }
  // a library name with arguments that the library does not have
  real mean(int a, int b, int c) { return (a + b + c) / 3.0; }
  vector exp(tuple(vector, real) p) { return exp(p.1) * p.2; }
}
parameters { real a; vector[2] v; }
model {
  target += size_of(1) + size_of(1.5) + size_of(2i) + size_of(v) + size_of(v') + size_of(v * v');
  target += size_of({1, 2}) + size_of({1.5}) + size_of({{1.5}}) + size_of({v, v}) + size_of((1, a)) + size_of(1, 2) + size_of();
  a ~ clamp(1);
  v ~ clamp(a);
  2 ~ clamp(a);
  target += mean(1, 2, 3) + mean(v) + sum(exp((v, a)));
}
