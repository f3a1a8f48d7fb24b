// mistake: assigns an array to a vector
data {
  array[3] real a;
}
transformed data {
  vector[3] v = a;
}
