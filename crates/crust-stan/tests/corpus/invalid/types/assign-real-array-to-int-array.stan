// mistake: assigns an array of reals to an array of ints
data {
  array[3] real a;
}
transformed data {
  array[3] int b = a;
}
