// mistake: left division of a complex matrix
data {
  complex_matrix[3, 3] a;
  complex_vector[3] b;
}
transformed data {
  complex_vector[3] c = a \ b;
}
