// mistake: reduce_sum over a scalar
functions {
  real part(array[] real s, int a, int b) {
    return sum(s);
  }
}
data {
  real y;
}
model {
  target += reduce_sum(part, y, 1);
}
