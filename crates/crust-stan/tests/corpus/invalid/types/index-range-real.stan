// mistake: an index range that starts with a real
data {
  vector[3] v;
}
transformed data {
  vector[2] a = v[1.0 : 2];
}
