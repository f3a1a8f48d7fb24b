// mistake: empty brackets are a row vector, not a matrix
transformed data {
  matrix[0, 0] a = [];
}
