// mistake: two overloads differ in the return type only
functions {
  real f(real x) {
    return x;
  }
  int f(real x) {
    return 1;
  }
}
