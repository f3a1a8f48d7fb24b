// mistake: the functor of dae lacks the derivative
functions {
  vector f(real t, vector y) {
    return y;
  }
}
transformed data {
  array[1] vector[1] z = dae(f, [1]', [1]', 0, {1.0});
}
