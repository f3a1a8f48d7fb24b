// Retired: an _lp function called in transformed parameters (2.39 warns; to be an error in 2.40).
functions {
  real positive_lp(real u) {
    target += u;
    return exp(u);
  }
}
parameters { real u; }
transformed parameters { real s = positive_lp(u); }
model { s ~ exponential(1); }
