// mistake: an _lpdf function without arguments
functions {
  real foo_lpdf() {
    return 1;
  }
}
