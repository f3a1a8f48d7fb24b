// mistake: an _lpmf function that returns a vector
functions {
  vector foo_lpmf(int x, vector m) {
    return x * m;
  }
}
