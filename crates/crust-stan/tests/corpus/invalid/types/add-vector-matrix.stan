// mistake: adds a vector and a matrix
data {
  vector[3] a;
  matrix[3, 3] b;
}
transformed data {
  matrix[3, 3] c = a + b;
}
