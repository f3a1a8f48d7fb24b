// mistake: tuples of different arity in an array literal
transformed data {
  array[2] tuple(int, int) a = {(1, 2), (1, 2, 3)};
}
