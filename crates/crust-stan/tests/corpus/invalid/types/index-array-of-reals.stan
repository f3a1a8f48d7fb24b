// mistake: an index that is an array of reals
data {
  array[2] real k;
  vector[3] v;
}
transformed data {
  vector[2] a = v[k];
}
