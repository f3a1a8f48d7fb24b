// mistake: an _lpdf function with an array of ints as its variate
functions {
  real foo_lpdf(array[] int x) {
    return 1;
  }
}
