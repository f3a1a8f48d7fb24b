// mistake: an argument with a bound
functions {
  real f(real<lower=0> x) {
    return x;
  }
}
