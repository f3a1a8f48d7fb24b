// mistake: an index that is a real
data {
  vector[3] v;
}
transformed data {
  real a = v[1.5];
}
