// mistake: a function is declared twice
functions {
  real f(real x);
  real f(real x);
  real f(real x) {
    return x;
  }
}
