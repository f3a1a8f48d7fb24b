// mistake: a truncation of a user density without cumulative functions
functions {
  real foo_lpdf(real x, real m) {
    return -abs(x - m);
  }
}
parameters {
  real x;
}
model {
  x ~ foo(1) T[0, ];
}
