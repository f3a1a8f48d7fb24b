// mistake: reduce_sum over an array of complex numbers
functions {
  real part(array[] complex s, int a, int b) {
    return 1;
  }
}
data {
  array[4] complex y;
}
model {
  target += reduce_sum(part, y, 1);
}
