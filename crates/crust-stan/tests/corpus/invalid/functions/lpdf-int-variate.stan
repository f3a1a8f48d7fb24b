// mistake: an _lpdf function with an int variate
functions {
  real foo_lpdf(int x, real m) {
    return x * m;
  }
}
