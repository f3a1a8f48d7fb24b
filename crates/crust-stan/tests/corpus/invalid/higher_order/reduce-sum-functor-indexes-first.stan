// mistake: the functor of reduce_sum takes start and end before the slice
functions {
  real part(int a, int b, array[] int s) {
    return sum(s);
  }
}
data {
  array[4] int y;
}
model {
  target += reduce_sum(part, y, 1);
}
