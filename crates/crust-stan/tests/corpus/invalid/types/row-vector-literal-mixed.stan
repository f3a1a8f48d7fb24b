// mistake: scalars and row vectors inside of brackets
transformed data {
  matrix[2, 2] m = [[1, 2], 3];
}
