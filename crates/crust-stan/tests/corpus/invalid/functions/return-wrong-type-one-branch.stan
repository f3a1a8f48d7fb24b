// mistake: one of two branches returns the wrong type
functions {
  vector f(vector x, int n) {
    if (n) {
      return x;
    } else {
      return x';
    }
  }
}
