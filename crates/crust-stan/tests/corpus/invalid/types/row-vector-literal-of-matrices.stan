// mistake: matrices inside of brackets
data {
  matrix[2, 2] a;
}
transformed data {
  matrix[2, 4] m = [a, a];
}
