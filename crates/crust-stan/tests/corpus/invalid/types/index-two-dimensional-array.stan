// mistake: an index that is a two-dimensional array of ints
data {
  array[2, 2] int k;
  vector[3] v;
}
transformed data {
  vector[2] a = v[k];
}
