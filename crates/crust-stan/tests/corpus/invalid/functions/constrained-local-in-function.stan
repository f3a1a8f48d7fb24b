// mistake: a bound on a local variable of a function
functions {
  real f(real x) {
    real<lower=0> y = x;
    return y;
  }
}
