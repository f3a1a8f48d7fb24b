// mistake: a function assigns to an element of its argument
functions {
  vector f(vector x) {
    x[1] = 2;
    return x;
  }
}
