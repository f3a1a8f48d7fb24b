// mistake: a function that ends in _lupdf
functions {
  real foo_lupdf(real x, real m) {
    return x * m;
  }
}
