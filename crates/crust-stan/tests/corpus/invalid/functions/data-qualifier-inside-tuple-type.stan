// mistake: the word data inside of a tuple type
functions {
  real f(tuple(data real, real) x) {
    return x.1;
  }
}
