// mistake: assigns a vector to a row vector
data {
  vector[3] v;
}
transformed data {
  row_vector[3] r = v;
}
