// mistake: indexes a scalar on the left of an assignment
transformed data {
  real a;
  a[1] = 3;
}
