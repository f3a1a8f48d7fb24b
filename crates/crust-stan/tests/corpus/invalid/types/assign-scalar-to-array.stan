// mistake: assigns a scalar to an array
transformed data {
  array[3] int a = 0;
}
