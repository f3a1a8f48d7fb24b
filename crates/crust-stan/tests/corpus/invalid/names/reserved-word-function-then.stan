// mistake: the word then as a function
functions {
  real then(real x) {
    return x;
  }
}
