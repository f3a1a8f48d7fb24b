// mistake: an _lpdf function that returns an int
functions {
  int foo_lpdf(real x) {
    return 1;
  }
}
