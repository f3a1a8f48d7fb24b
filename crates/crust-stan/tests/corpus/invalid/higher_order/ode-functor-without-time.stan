// mistake: the functor of a differential equation lacks the time
functions {
  vector f(vector y, real k) {
    return -k * y;
  }
}
transformed data {
  array[1] vector[1] z = ode_bdf(f, [1]', 0, {1.0}, 0.5);
}
