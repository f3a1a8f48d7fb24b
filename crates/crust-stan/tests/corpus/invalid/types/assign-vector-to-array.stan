// mistake: assigns a vector to an array
data {
  vector[3] v;
}
transformed data {
  array[3] real a = v;
}
