// mistake: multiplies two row vectors
data {
  row_vector[3] a;
}
transformed data {
  row_vector[3] c = a * a;
}
