// mistake: a comma after the last element of a row vector
transformed data {
  row_vector[2] a = [1, 2,];
}
