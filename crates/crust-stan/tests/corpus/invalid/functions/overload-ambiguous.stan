// mistake: a call matches two overloads equally well
functions {
  real f(int x, real y) {
    return y;
  }
  real f(real x, int y) {
    return x;
  }
}
transformed data {
  real a = f(1, 2);
}
