// mistake: tuples inside of brackets
transformed data {
  row_vector[2] m = [(1, 2), (3, 4)];
}
