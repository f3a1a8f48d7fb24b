// mistake: an index on the left reads the variable that is assigned to
transformed data {
  array[3] int a = {1, 2, 3};
  a[a[1]] = 2;
}
