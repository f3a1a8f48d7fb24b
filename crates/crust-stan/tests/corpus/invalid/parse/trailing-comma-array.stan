// mistake: a comma after the last element of an array
transformed data {
  array[2] int a = {1, 2,};
}
