// mistake: an _lpmf function with a vector variate
functions {
  real foo_lpmf(vector x, real m) {
    return sum(x) * m;
  }
}
