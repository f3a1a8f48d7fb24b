// mistake: a loop whose body returns or breaks
functions {
  real f(int n) {
    for (i in 1 : n) {
      if (i > 2) {
        return 1;
      } else {
        break;
      }
    }
  }
}
