// mistake: a random number generator as the functor of a differential equation
functions {
  vector f_rng(real t, vector y) {
    return [normal_rng(0, 1)]';
  }
}
generated quantities {
  array[1] vector[1] z = ode_rk45(f_rng, [1]', 0, {1.0});
}
