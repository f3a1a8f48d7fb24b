// mistake: an int target for a real element
transformed data {
  real a;
  int b;
  (a, b) = (1.0, 2.0);
}
