// mistake: a plain argument is passed on to a data-only argument
functions {
  real f(data real x) {
    return x;
  }
  real g(real x) {
    return f(x);
  }
}
