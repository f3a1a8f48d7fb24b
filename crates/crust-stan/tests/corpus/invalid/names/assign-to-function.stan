// mistake: a function is assigned to
functions {
  real f(real x) {
    return x;
  }
}
model {
  f = 3;
}
