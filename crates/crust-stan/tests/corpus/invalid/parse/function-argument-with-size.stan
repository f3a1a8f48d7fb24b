// mistake: an argument type with a size
functions {
  real f(vector[3] x) {
    return x[1];
  }
}
