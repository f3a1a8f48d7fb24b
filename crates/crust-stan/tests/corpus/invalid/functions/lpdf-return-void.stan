// mistake: a void _lpdf function
functions {
  void foo_lpdf(real x) {
    print(x);
  }
}
