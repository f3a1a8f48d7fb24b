// mistake: a while condition that is a real
transformed data {
  real x = 3;
  while (x) {
    x -= 1;
  }
}
