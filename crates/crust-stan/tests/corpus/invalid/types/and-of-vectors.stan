// mistake: logical and of vectors
data {
  vector[3] a;
}
transformed data {
  int c = a && a;
}
