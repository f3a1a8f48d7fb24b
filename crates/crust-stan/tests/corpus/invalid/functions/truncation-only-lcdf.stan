// mistake: a truncation of a user density that has an _lcdf but no _lccdf
functions {
  real foo_lpdf(real x, real m) {
    return -abs(x - m);
  }
  real foo_lcdf(real x, real m) {
    return x - m;
  }
}
parameters {
  real x;
}
model {
  x ~ foo(1) T[, 2];
}
