// mistake: adds two arrays
data {
  array[3] real a;
  array[3] real b;
}
transformed data {
  array[3] real c = a + b;
}
