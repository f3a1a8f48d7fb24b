// mistake: an array of reals for an array of ints
functions {
  int f(array[] int x) {
    return x[1];
  }
}
data {
  array[3] real a;
}
transformed data {
  int b = f(a);
}
