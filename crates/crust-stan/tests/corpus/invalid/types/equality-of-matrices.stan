// mistake: inequality of matrices
data {
  matrix[2, 2] a;
}
transformed data {
  int c = a != a;
}
