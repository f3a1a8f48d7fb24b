// mistake: a while loop that may break before it returns
functions {
  real f(int n) {
    while (1) {
      if (n > 2) {
        break;
      }
      return n;
    }
  }
}
