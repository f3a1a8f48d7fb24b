// mistake: a real variate for a user mass function
functions {
  real foo_lpmf(int n, real m) {
    return n * m;
  }
}
parameters {
  real x;
}
model {
  x ~ foo(1.0);
}
