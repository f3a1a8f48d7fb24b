// mistake: a function that ends in _lupmf
functions {
  real foo_lupmf(int x, real m) {
    return x * m;
  }
}
