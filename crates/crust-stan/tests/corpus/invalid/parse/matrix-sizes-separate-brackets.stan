// mistake: the two sizes of a matrix in brackets of their own
data {
  matrix[3][3] m;
}
