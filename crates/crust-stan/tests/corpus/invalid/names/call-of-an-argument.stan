// mistake: an argument is called
functions {
  real f(real g) {
    return g(1);
  }
}
