// mistake: two overloads differ in the data qualifier only
functions {
  real f(real x) {
    return x;
  }
  real f(data real x) {
    return 2 * x;
  }
}
