// mistake: a _cdf function that returns a vector
functions {
  vector foo_cdf(vector x, real m) {
    return x - m;
  }
}
