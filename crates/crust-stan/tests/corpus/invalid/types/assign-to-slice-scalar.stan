// mistake: assigns a scalar to a slice
transformed data {
  vector[5] v;
  v[2 : 3] = 1.0;
}
