// mistake: an argument ends in two underscores
functions {
  real f(real x__) {
    return x__;
  }
}
