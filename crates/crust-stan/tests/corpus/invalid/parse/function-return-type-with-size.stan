// mistake: a return type with a size
functions {
  vector[3] f(vector x) {
    return x;
  }
}
