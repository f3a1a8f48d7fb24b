// mistake: a user density repeats the signature of a library density
functions {
  real normal_lpdf(real x, real m, real s) {
    return x - m;
  }
}
