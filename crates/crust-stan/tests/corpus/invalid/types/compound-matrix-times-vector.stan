// mistake: multiplies a matrix by a vector in place
data {
  vector[3] v;
}
transformed data {
  matrix[3, 3] m = identity_matrix(3);
  m *= v;
}
