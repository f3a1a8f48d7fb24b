// mistake: the initialiser of a variable calls the function that the variable hides
functions {
  real f(real x) {
    return x;
  }
}
transformed data {
  real f = f(1);
}
