// mistake: column vectors inside of brackets
data {
  vector[3] v;
}
transformed data {
  matrix[2, 3] m = [v, v];
}
