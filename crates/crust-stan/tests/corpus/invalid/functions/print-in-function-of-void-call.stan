// mistake: prints the value of a void function
functions {
  void f(real x) {
    print(x);
  }
}
model {
  print(f(1));
}
