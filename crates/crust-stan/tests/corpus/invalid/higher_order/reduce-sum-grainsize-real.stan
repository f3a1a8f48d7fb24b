// mistake: the grain size of reduce_sum is a real
functions {
  real part(array[] int s, int a, int b) {
    return sum(s);
  }
}
data {
  array[4] int y;
}
model {
  target += reduce_sum(part, y, 1.5);
}
