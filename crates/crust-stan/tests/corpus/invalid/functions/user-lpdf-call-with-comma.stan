// mistake: a call of a user _lpdf function with a comma instead of the bar
functions {
  real foo_lpdf(real x, real m) {
    return x * m;
  }
}
model {
  target += foo_lpdf(1.0, 2.0);
}
