// mistake: an _lp function in the bound of a parameter
functions {
  real low_lp(real x) {
    return x;
  }
}
parameters {
  real<lower=low_lp(1)> x;
}
