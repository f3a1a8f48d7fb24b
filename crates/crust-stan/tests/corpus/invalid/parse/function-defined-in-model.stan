// mistake: a function defined in the model block
model {
  real f(real x) {
    return x;
  }
}
