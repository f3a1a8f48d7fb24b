// mistake: a return type with a bound
functions {
  real<lower=0> f(real x) {
    return exp(x);
  }
}
