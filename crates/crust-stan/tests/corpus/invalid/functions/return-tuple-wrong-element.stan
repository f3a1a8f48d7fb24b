// mistake: returns a tuple with a wrong element
functions {
  tuple(int, real) f(real x) {
    return (x, x);
  }
}
