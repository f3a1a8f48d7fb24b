// mistake: reduce_sum without a grain size
functions {
  real part(array[] int s, int a, int b) {
    return sum(s);
  }
}
data {
  array[4] int y;
}
model {
  target += reduce_sum(part, y);
}
