// mistake: assigns a row vector literal to a vector
transformed data {
  vector[3] v = [1, 2, 3];
}
