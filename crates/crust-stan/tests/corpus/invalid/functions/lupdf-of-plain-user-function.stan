// mistake: an unnormalised density of a user function that has none
functions {
  real foo(real x) {
    return x;
  }
}
model {
  target += foo_lupdf(1.0 | );
}
