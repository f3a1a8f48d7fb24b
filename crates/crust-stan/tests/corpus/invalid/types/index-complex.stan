// mistake: an index that is a complex number
data {
  vector[3] v;
}
transformed data {
  real a = v[2i];
}
