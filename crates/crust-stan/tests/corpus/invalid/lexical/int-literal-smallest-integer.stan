// mistake: the smallest integer cannot be written with a minus sign, since its digits are too large
transformed data {
  int a = -2147483648;
}
