// mistake: the functions block after the model block
model {
  target += 1;
}
functions {
  real f(real x) {
    return x;
  }
}
