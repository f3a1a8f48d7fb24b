// mistake: reduce_sum over an array of tuples
functions {
  real part(array[] tuple(int, real) s, int a, int b) {
    return 1;
  }
}
data {
  array[4] tuple(int, real) y;
}
model {
  target += reduce_sum(part, y, 1);
}
