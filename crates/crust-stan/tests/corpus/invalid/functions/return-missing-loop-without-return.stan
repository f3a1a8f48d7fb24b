// mistake: a loop that never returns
functions {
  real f(int n) {
    for (i in 1 : n) {
      print(i);
    }
  }
}
