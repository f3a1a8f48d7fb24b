// mistake: reduce_sum lacks a shared argument
functions {
  real part(array[] int s, int a, int b, real m) {
    return sum(s) * m;
  }
}
data {
  array[4] int y;
}
model {
  target += reduce_sum(part, y, 1);
}
