// mistake: reduce_sum over a vector
functions {
  real part(vector s, int a, int b) {
    return sum(s);
  }
}
data {
  vector[4] y;
}
model {
  target += reduce_sum(part, y, 1);
}
