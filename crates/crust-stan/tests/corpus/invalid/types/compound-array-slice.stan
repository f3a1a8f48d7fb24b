// mistake: adds to a slice of an array in place
transformed data {
  array[3] int a = {1, 2, 3};
  a[1 : 2] += 1;
}
