// mistake: a matrix with one size
data {
  matrix[3] m;
}
