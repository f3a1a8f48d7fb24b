// mistake: a value function as a statement
functions {
  real f(real x) {
    return x;
  }
}
model {
  f(1);
}
