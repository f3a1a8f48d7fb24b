// mistake: a user function repeats the signature of a library function
functions {
  real inv_logit(real x) {
    return x;
  }
}
