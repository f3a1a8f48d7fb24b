// mistake: an index that is not declared
data {
  vector[3] v;
}
transformed data {
  real a = v[k];
}
