// mistake: an _lpdf function with a tuple of ints as its variate
functions {
  real foo_lpdf(tuple(int, int) x) {
    return 1;
  }
}
