// mistake: assigns a two-dimensional array to a one-dimensional one
data {
  array[2, 2] int a;
}
transformed data {
  array[2] int b = a;
}
