// mistake: no comma between two indexes
data {
  matrix[2, 2] m;
}
transformed data {
  real a = m[1 2];
}
