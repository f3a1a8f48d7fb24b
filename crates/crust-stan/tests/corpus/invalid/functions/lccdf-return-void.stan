// mistake: a void _lccdf function
functions {
  void foo_lccdf(real x, real m) {
    print(x);
  }
}
