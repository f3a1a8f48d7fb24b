// mistake: an unnormalised mass function in a plain function
functions {
  real f(int n) {
    return poisson_lupmf(n | 2.0);
  }
}
