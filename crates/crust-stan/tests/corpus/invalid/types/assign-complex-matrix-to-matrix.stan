// mistake: assigns a complex matrix to a matrix
data {
  complex_matrix[3, 3] z;
}
transformed data {
  matrix[3, 3] m;
  m = z;
}
