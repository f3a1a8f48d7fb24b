// mistake: an _lp function as the functor of reduce_sum
functions {
  real part_lp(array[] int s, int a, int b) {
    target += sum(s);
    return 1;
  }
}
data {
  array[4] int y;
}
model {
  target += reduce_sum(part_lp, y, 1);
}
