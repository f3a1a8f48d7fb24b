// mistake: a range index as a real
data {
  vector[3] v;
}
transformed data {
  real a = v[1 : 1];
}
