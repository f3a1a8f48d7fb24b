// mistake: no comma between two arguments
functions {
  real f(real x real y) {
    return x;
  }
}
