// mistake: the third element of a pair
data {
  tuple(real, int) t;
}
transformed data {
  real a = t.3;
}
