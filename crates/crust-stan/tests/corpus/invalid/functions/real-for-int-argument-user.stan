// mistake: a real for an int argument of a user function
functions {
  int f(int x) {
    return x;
  }
}
transformed data {
  int a = f(2.0);
}
