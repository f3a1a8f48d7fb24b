// mistake: a tuple for an array
transformed data {
  array[2] int a = (1, 2);
}
