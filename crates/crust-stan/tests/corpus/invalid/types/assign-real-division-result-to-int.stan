// mistake: assigns a real quotient to an int
data {
  real x;
}
transformed data {
  int a = x / 2;
}
