// mistake: a user function has the arguments of a library function and another return type
functions {
  int inv_logit(real x) {
    return 1;
  }
}
