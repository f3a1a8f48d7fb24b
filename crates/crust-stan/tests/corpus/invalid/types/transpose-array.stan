// mistake: the transpose of an array
data {
  array[2, 2] real a;
}
transformed data {
  array[2, 2] real c = a';
}
