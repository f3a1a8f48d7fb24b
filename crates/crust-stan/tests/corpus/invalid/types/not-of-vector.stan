// mistake: the logical negation of a vector
data {
  vector[3] a;
}
transformed data {
  int c = !a;
}
