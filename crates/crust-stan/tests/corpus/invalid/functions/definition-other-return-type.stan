// mistake: the definition has another return type than the declaration
functions {
  real f(real x);
  int f(real x) {
    return 1;
  }
}
