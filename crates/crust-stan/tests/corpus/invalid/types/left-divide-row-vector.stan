// mistake: left division of a row vector
data {
  matrix[3, 3] a;
  row_vector[3] b;
}
transformed data {
  row_vector[3] c = a \ b;
}
