// mistake: an argument without a name
functions {
  real f(real) {
    return 1;
  }
}
