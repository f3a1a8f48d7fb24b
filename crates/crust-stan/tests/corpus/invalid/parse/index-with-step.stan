// mistake: an index range with a step
data {
  vector[9] v;
}
transformed data {
  vector[3] a = v[1:2:9];
}
