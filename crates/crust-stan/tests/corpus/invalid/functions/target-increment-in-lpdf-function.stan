// mistake: target += in an _lpdf function
functions {
  real foo_lpdf(real x) {
    target += x;
    return x;
  }
}
