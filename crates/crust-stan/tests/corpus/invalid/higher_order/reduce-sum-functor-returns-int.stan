// mistake: the functor of reduce_sum returns an int
functions {
  int part(array[] int s, int a, int b) {
    return sum(s);
  }
}
data {
  array[4] int y;
}
model {
  target += reduce_sum(part, y, 1);
}
