// mistake: two indexes for a vector
data {
  vector[3] v;
}
transformed data {
  real a = v[1, 2];
}
