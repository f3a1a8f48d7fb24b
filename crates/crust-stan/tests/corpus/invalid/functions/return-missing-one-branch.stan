// mistake: the else branch does not return
functions {
  real f(real x) {
    if (x > 0) {
      return x;
    } else {
      print(x);
    }
  }
}
