// mistake: an array literal with one real for an array of ints
transformed data {
  array[2] int a = {1, 2.5};
}
