// mistake: a user function has the name of a variadic library function
functions {
  real reduce_sum(real x) {
    return x;
  }
}
