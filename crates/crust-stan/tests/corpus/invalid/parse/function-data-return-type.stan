// mistake: the word data in front of a return type
functions {
  data real f(real x) {
    return x;
  }
}
