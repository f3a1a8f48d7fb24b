// mistake: elementwise quotient of arrays
data {
  array[3] real a;
}
transformed data {
  array[3] real c = a ./ a;
}
