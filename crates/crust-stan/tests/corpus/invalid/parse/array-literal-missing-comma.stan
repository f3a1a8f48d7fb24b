// mistake: no comma between the elements of an array
transformed data {
  array[2] int a = {1 2};
}
