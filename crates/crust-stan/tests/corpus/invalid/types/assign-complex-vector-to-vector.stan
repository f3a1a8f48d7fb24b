// mistake: assigns a complex vector to a vector
data {
  complex_vector[3] z;
}
transformed data {
  vector[3] v = z;
}
