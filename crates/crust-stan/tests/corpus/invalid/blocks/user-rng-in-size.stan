// mistake: a user random number generator in a size
functions {
  int n_rng(int k) {
    return k;
  }
}
transformed data {
  vector[n_rng(3)] v;
}
