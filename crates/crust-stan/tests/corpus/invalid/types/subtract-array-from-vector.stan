// mistake: subtracts an array from a vector
data {
  vector[3] a;
  array[3] real b;
}
transformed data {
  vector[3] c = a - b;
}
