// mistake: a function ends in two underscores
functions {
  real f__(real x) {
    return x;
  }
}
