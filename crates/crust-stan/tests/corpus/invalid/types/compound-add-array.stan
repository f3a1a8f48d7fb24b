// mistake: adds to an array in place
transformed data {
  array[2] int a = {1, 2};
  a += 1;
}
