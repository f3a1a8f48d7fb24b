// Retired: argument and return types `real[]`, `int[,]`, `vector[]`, `matrix[,,]`.
functions {
  real total(real[] x) {
    return sum(x);
  }
  int corner(int[,] a) {
    return a[1, 1];
  }
  real[] doubled(real[] x) {
    real out[size(x)];
    for (i in 1:size(x)) out[i] = 2 * x[i];
    return out;
  }
  int[,] transposed(int[,] a) {
    int out[size(a[1]), size(a)];
    for (i in 1:size(a))
      for (j in 1:size(a[1]))
        out[j, i] = a[i, j];
    return out;
  }
  vector first(vector[] v) {
    return v[1];
  }
  vector[] twice(vector v) {
    vector[num_elements(v)] out[2];
    out[1] = v;
    out[2] = v;
    return out;
  }
  real deep(matrix[,,] m, data real[] d) {
    return m[1, 1, 1, 1, 1] + d[1];
  }
}
model { }
