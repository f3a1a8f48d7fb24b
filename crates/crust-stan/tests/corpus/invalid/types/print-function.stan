// mistake: prints a function
functions {
  real f(real x) {
    return x;
  }
}
model {
  print(f);
}
