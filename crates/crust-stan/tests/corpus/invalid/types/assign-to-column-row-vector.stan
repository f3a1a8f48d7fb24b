// mistake: assigns a row vector to a column of a matrix
data {
  row_vector[3] r;
}
transformed data {
  matrix[3, 3] m;
  m[ : , 1] = r;
}
