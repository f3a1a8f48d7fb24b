// mistake: an index that is a vector
data {
  vector[3] k;
  vector[3] v;
}
transformed data {
  vector[3] a = v[k];
}
