// mistake: an _lcdf function that returns an int
functions {
  int foo_lcdf(real x, real m) {
    return 1;
  }
}
