// mistake: a tuple argument with a wrong element
functions {
  int f(tuple(int, int) x) {
    return x.1;
  }
}
transformed data {
  int b = f((1, 2.5));
}
