// mistake: an integer literal above the largest 32-bit integer
transformed data {
  int a = 2147483648;
}
