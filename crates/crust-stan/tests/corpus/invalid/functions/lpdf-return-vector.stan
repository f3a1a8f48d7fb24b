// mistake: an _lpdf function that returns a vector
functions {
  vector foo_lpdf(vector x, real m) {
    return x - m;
  }
}
