// mistake: increments target by a function
functions {
  real f(real x) {
    return x;
  }
}
model {
  target += f;
}
