// mistake: assigns a scalar to a vector
transformed data {
  vector[3] v = 0;
}
