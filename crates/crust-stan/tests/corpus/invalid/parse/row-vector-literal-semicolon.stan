// mistake: rows separated by a semicolon
transformed data {
  matrix[2, 2] a = [1, 2; 3, 4];
}
