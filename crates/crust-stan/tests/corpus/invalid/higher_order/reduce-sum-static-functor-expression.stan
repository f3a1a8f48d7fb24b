// mistake: the functor is not an identifier
data {
  array[4] int y;
}
model {
  target += reduce_sum_static(1 + 2, y, 1);
}
