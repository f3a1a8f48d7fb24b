// mistake: an array literal is not closed
transformed data {
  array[2] int a = {1, 2;
}
