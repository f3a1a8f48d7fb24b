// mistake: assigns a column vector to a row of a matrix
data {
  vector[3] v;
}
transformed data {
  matrix[3, 3] m;
  m[1] = v;
}
