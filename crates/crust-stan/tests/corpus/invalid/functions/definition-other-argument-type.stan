// mistake: the definition has other arguments, so the declaration stays undefined
functions {
  real f(real x);
  real f(vector x) {
    return sum(x);
  }
}
