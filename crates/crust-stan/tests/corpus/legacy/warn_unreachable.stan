// Not retired, but 2.39 warns: statements that cannot be reached.
functions {
  real f(real x) {
    return x;
    print("never");
  }
}
model {
  for (i in 1:3) { break; print(i); }
}
