// mistake: returns a vector from a real function
functions {
  real f(vector x) {
    return x;
  }
}
