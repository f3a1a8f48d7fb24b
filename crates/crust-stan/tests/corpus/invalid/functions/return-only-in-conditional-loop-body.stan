// mistake: a loop whose body returns under a condition only
functions {
  real f(int n) {
    for (i in 1 : n) {
      if (i > 2) {
        return 1;
      }
    }
  }
}
