// mistake: only a literal condition makes an endless loop
functions {
  real f(int n) {
    while (1 == 1) {
      print(n);
    }
  }
}
