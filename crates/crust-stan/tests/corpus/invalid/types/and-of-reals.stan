// mistake: logical and of a real
data {
  real x;
}
transformed data {
  int a = x && 1;
}
