// mistake: a keyword as a function
functions {
  real while(real x) {
    return x;
  }
}
