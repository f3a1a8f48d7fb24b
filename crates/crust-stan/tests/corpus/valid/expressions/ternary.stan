// Conditional expressions: nested both ways, of every type, with promotion.
data { int c; int d; real r; vector[2] v; matrix[2, 2] m; array[2] int a; tuple(int, real) t; }
transformed data {
  int i = c ? 1 : 2;
  real x = c ? 1 : 2.5;
  real y = c ? d ? 1 : 2 : 3;
  real z = c ? 1 : d ? 2 : 3;
  real w = (c ? 1 : 2) + (d ? 3 : 4);
  real u = c > 1 || d ? r + 1 : r - 1;
  vector[2] cv = c ? v : -v;
  matrix[2, 2] cm = c ? m' : m;
  array[2] int ca = c ? a : {0, 0};
  array[2] real cr = c ? {1, 2} : {1.5, 2.5};
  tuple(int, real) ct = c ? t : (1, 2.0);
  complex cz = c ? 1 : 2i;
  real idx = (c ? v : -v)[1];
  real nested = c ? (d ? (c ? 1 : 2) : (c ? 3 : 4)) : 5;
  int as_index = a[c ? 1 : 2];
  real arg_call = fmax(c ? 1 : 2, d ? 3 : 4);
}
