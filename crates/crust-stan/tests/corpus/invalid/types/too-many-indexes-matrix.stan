// mistake: three indexes for a matrix
data {
  matrix[3, 3] m;
}
transformed data {
  real a = m[1, 2, 3];
}
