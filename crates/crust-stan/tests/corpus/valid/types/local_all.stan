// Every unconstrained sized type as a local variable in the model block and in a function.
functions {
  real locals(int k) {
    int i = k;
    real r = i;
    complex z = r;
    vector[k] v = rep_vector(r, k);
    row_vector[k] rv = v';
    matrix[k, k] m = v * rv;
    complex_vector[k] cv = v;
    complex_row_vector[k] crv = rv;
    complex_matrix[k, k] cm = m;
    tuple(int, real) t = (i, r);
    array[k] tuple(int, array[k] vector[k]) at;
    array[k, k] int a2;
    at[1] = (1, {v, v});
    return r + get_real(z) + sum(v) + sum(m) + t.2;
  }
}
data {
  int<lower=1> k;
}
parameters {
  real p;
}
model {
  int i = k;
  real r = p;
  complex z = to_complex(p, r);
  vector[k] v = rep_vector(p, k);
  row_vector[k] rv = v';
  matrix[k, k] m = v * rv;
  complex_vector[k] cv = v;
  complex_row_vector[k] crv = rv;
  complex_matrix[k, k] cm = m;
  tuple(int, real) t = (i, r);
  array[k] tuple(int, vector[k]) at;
  at[1] = (1, v);
  target += locals(k) + abs(z);
}
