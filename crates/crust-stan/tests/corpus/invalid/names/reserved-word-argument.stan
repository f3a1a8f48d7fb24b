// mistake: a keyword as an argument
functions {
  real f(real return) {
    return 1;
  }
}
