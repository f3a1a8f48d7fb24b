// mistake: returns a real from an int function
functions {
  int f(real x) {
    return x;
  }
}
