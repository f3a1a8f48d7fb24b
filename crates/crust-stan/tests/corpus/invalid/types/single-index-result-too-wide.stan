// mistake: one index of a matrix as a real
data {
  matrix[3, 3] m;
}
transformed data {
  real a = m[1];
}
