// mistake: assigns a vector to a matrix
data {
  vector[3] v;
}
transformed data {
  matrix[3, 1] m = v;
}
