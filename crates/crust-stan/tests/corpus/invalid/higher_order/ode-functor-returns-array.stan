// mistake: the functor of a differential equation returns an array
functions {
  array[] real f(real t, vector y) {
    return {y[1]};
  }
}
transformed data {
  array[1] vector[1] z = ode_rk45(f, [1]', 0, {1.0});
}
