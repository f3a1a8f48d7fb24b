// mistake: a function uses a data variable
functions {
  real f(real x) {
    return x + offs;
  }
}
data {
  real offs;
}
