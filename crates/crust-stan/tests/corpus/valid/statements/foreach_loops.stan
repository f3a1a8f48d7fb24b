// Loops over the elements of arrays, vectors, row vectors, matrices, literals and call results.
data {
  array[3] int ai;
  array[2, 3] real ar;
  array[2] vector[3] av;
  array[2] tuple(int, real) at;
  vector[4] v;
  row_vector[4] rv;
  matrix[2, 2] m;
  array[2] complex az;
}
transformed data {
  real s = 0;
  for (e in ai) s += e;
  for (row_e in ar) for (e in row_e) s += e;
  for (w in av) {
    s += sum(w);
    for (e in w) s += e;
  }
  for (t in at) { s += t.1 * t.2; }
  for (e in v) s += e;
  for (e in rv) s += e;
  for (e in m) s += e;
  for (z in az) s += abs(z);
  for (e in {1, 2, 3}) s += e;
  for (e in [1, 2, 3]) s += e;
  for (e in exp(v)) s += e;
  for (e in v[2 : 3]) s += e;
  for (e in append_array(ai, {4})) s += e;
}
