// mistake: a matrix as the multiplier of a vector
data {
  matrix[3, 3] b;
}
parameters {
  vector<multiplier=b>[3] x;
}
