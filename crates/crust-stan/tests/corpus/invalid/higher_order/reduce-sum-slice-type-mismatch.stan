// mistake: the functor of reduce_sum takes another type of slice
functions {
  real part(array[] int s, int a, int b) {
    return sum(s);
  }
}
data {
  array[4] real y;
}
model {
  target += reduce_sum(part, y, 1);
}
