// mistake: a missing return, a wrong return type and a wrong call (3 mistakes)
functions {
  real f(real x) {
    print(x);
  }
  int g(real x) {
    return x;
  }
}
model {
  target += f(1, 2);
}
