// Functions with tuples in and out: destructured, indexed, overloaded, densities with tuple arguments.
functions {
  tuple(vector, matrix) moments(matrix x) {
    int n = rows(x);
    vector[cols(x)] m;
    for (j in 1 : cols(x)) m[j] = mean(x[ : , j]);
    matrix[n, cols(x)] c = x - rep_matrix(m', n);
    return (m, crossprod(c) / (n - 1.0));
  }
  real pair_lpdf(tuple(real, real) p, tuple(real, real) loc, real s) {
    return normal_lpdf(p.1 | loc.1, s) + normal_lpdf(p.2 | loc.2, s);
  }
  real pairs_lpdf(array[] tuple(real, vector) ps, real s) {
    real acc = 0;
    for (p in ps) acc += normal_lupdf(p.2 | p.1, s);
    return acc;
  }
  tuple(real, tuple(int, complex)) swap(tuple(int, complex) a, real b) { return (b, a); }
}
data { int n; matrix[n, 3] x; array[2] tuple(real, vector[3]) obs; }
transformed data {
  vector[3] m; matrix[3, 3] S;
  (m, S) = moments(x);
  tuple(real, tuple(int, complex)) sw = swap((1, 2i), 3);
}
parameters { tuple(real, real) p; real<lower=0> s; }
model {
  target += pair_lpdf(p | (0, 1), s);
  p ~ pair((m[1], m[2]), s);
  obs ~ pairs(s);
}
