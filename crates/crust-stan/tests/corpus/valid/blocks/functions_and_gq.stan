// Functions used only in generated quantities.
functions {
  int triangular(int n) {
    return n * (n + 1) %/% 2;
  }
}
generated quantities {
  int t10 = triangular(10);
}
