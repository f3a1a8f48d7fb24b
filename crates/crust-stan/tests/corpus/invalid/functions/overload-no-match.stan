// mistake: a call matches none of the overloads
functions {
  real f(real x) {
    return x;
  }
  real f(vector x) {
    return sum(x);
  }
}
transformed data {
  real a = f([1, 2]);
}
