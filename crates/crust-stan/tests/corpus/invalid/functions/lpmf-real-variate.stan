// mistake: an _lpmf function with a real variate
functions {
  real foo_lpmf(real x, real m) {
    return x * m;
  }
}
