// mistake: a matrix with three sizes
data {
  matrix[3, 3, 3] m;
}
