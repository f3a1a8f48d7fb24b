// mistake: assigns an array of row vectors to a matrix
data {
  array[3] row_vector[2] a;
}
transformed data {
  matrix[3, 2] m = a;
}
