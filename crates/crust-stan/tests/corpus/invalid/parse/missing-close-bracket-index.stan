// mistake: an index is not closed
data {
  vector[3] v;
}
transformed data {
  real a = v[1;
}
