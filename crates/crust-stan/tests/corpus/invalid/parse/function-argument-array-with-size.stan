// mistake: an array argument with a size
functions {
  real f(array[3] real x) {
    return x[1];
  }
}
