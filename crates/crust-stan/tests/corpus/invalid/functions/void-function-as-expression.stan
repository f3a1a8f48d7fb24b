// mistake: a void function as a value
functions {
  void f(real x) {
    print(x);
  }
}
transformed data {
  real a = f(1);
}
