// mistake: multiplies a slice by a slice in place
transformed data {
  vector[4] v = rep_vector(1, 4);
  v[1 : 2] *= v[3 : 4];
}
