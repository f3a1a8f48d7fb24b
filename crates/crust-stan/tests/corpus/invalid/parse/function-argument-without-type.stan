// mistake: an argument without a type
functions {
  real f(x) {
    return x;
  }
}
