// mistake: a wrong type of argument to a library function
data {
  array[3] real a;
}
transformed data {
  matrix[3, 3] m = inverse(a);
}
