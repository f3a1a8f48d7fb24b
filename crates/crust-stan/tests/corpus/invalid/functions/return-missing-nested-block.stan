// mistake: a nested block without a return
functions {
  real f(int n) {
    {
      real a = n;
    }
  }
}
