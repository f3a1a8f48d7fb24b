// mistake: elementwise product in place with a scalar on the left
transformed data {
  real a = 1;
  a .*= 2;
}
