// mistake: multiplies a matrix with an array
data {
  matrix[3, 3] a;
  array[3] real b;
}
transformed data {
  vector[3] c = a * b;
}
