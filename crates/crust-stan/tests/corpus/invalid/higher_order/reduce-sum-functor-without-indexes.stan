// mistake: the functor of reduce_sum lacks start and end
functions {
  real part(array[] int s, real m) {
    return sum(s) * m;
  }
}
data {
  array[4] int y;
}
model {
  target += reduce_sum(part, y, 1, 2.0);
}
