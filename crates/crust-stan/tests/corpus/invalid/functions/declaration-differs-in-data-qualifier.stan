// mistake: the definition lacks the data qualifier of the declaration
functions {
  real f(data real x);
  real f(real x) {
    return x;
  }
}
