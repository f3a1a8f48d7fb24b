// A program with only a transformed data block.
transformed data {
  int k = 4;
  vector[k] grid = linspaced_vector(k, 0, 1);
}
