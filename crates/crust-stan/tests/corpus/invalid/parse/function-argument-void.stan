// mistake: an argument of type void
functions {
  real f(void x) {
    return 1;
  }
}
