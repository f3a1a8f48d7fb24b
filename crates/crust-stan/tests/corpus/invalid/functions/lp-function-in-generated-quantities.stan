// mistake: an _lp function called in generated quantities
functions {
  real add_lp(real x) {
    target += x;
    return x;
  }
}
generated quantities {
  real a = add_lp(1);
}
