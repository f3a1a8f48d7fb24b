// mistake: the power of two ints is a real
transformed data {
  int a = 3 ^ 2;
}
