// mistake: an argument of a constrained type
functions {
  real f(simplex x) {
    return x[1];
  }
}
