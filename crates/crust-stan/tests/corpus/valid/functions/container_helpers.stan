// Functions that build and return containers of sizes computed from the arguments.
functions {
  array[] int which(array[] int mask) {
    array[sum(mask)] int out;
    int pos = 1;
    for (i in 1 : size(mask)) {
      if (mask[i]) { out[pos] = i; pos += 1; }
    }
    return out;
  }
  matrix lag_matrix(vector y, int p) {
    int n = num_elements(y);
    matrix[n - p, p] X;
    for (l in 1 : p) X[ : , l] = y[(p + 1 - l) : (n - l)];
    return X;
  }
  array[] matrix split(matrix m, int k) {
    array[k] matrix[rows(m) %/% k, cols(m)] parts;
    int h = rows(m) %/% k;
    for (i in 1 : k) parts[i] = m[((i - 1) * h + 1) : (i * h)];
    return parts;
  }
  tuple(vector, array[] int) sorted(vector v) {
    return (sort_asc(v), sort_indices_asc(v));
  }
}
data { int n; vector[n] y; array[n] int<lower=0, upper=1> mask; }
transformed data {
  array[sum(mask)] int on = which(mask);
  matrix[n - 2, 2] X = lag_matrix(y, 2);
  tuple(vector[n], array[n] int) s = sorted(y);
  array[2] matrix[(n - 2) %/% 2, 2] halves = split(X, 2);
}
