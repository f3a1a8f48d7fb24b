// mistake: a function is declared after its definition
functions {
  real f(real x) {
    return x;
  }
  real f(real x);
}
