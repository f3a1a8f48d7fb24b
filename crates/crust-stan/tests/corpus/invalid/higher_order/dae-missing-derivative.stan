// mistake: the initial derivative is missing
functions {
  vector f(real t, vector y, vector yp) {
    return yp + y;
  }
}
transformed data {
  array[1] vector[1] z = dae(f, [1]', 0, {1.0});
}
