// Arguments qualified with data, of many types, fed with data expressions.
functions {
  real scaled(data real x, real y) { return x * y; }
  vector picked(data array[] int idx, vector v) { return v[idx]; }
  real chained(data vector w, data matrix m, data array[, ] real a, data tuple(int, real) t) {
    return scaled(w[1] + m[1, 1] + a[1, 1] + t.2, 2) + scaled(sum(w), 3);
  }
}
data { int n; real x; vector[n] w; matrix[n, n] m; array[2, 2] real a; tuple(int, real) t; array[2] int idx; }
transformed data {
  real y = 2 * x;
  real s1 = scaled(x + y, 1);
  { real loc = x; real s2 = scaled(loc, 2); }
}
parameters { real theta; vector[n] v; }
transformed parameters { real u = scaled(x, theta); }
model {
  target += scaled(y * 2 + n, theta) + sum(picked(idx, v)) + chained(w, m, a, t);
  target += chained([1, 2]', [[1]], {{1.5}}, (1, 2)) + sum(picked({1, 2}, v));
}
generated quantities { real g = scaled(x, u); }
