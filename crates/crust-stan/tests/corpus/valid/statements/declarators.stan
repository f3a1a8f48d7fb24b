// Several declarators in one declaration, some defined, in all kinds of scopes.
functions {
  real f(real x) {
    real a = x, b, c = a + 1;
    b = c;
    int i, j = 2;
    i = j;
    return a + b + c + i;
  }
}
transformed data {
  int u, v = 1, w;
  real p = 1.5, q = p * 2;
  vector[2] x = [1, 2]', y, z = x + 1;
  array[2] int s = {1, 2}, t = s;
  tuple(int, real) t1 = (1, 2), t2;
  u = v;
  w = u;
  y = z;
  t2 = t1;
  matrix[2, 2] m1 = x * y', m2 = m1';
}
model {
  real a = 1, b = a, c = b;
  array[2] vector[2] k, l;
  target += f(a) + f(c);
}
