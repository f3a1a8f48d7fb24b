// mistake: a function is indexed
functions {
  vector f(int n) {
    return rep_vector(1, n);
  }
}
transformed data {
  real a = f[1];
}
