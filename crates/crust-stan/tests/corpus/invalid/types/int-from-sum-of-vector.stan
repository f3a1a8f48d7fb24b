// mistake: the sum of a vector for an int
data {
  vector[3] v;
}
transformed data {
  int a = sum(v);
}
