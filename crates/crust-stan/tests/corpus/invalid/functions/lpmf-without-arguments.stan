// mistake: an _lpmf function without arguments
functions {
  real foo_lpmf() {
    return 1;
  }
}
