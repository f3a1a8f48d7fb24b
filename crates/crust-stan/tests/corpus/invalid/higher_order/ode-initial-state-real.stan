// mistake: the initial state is a real
functions {
  vector f(real t, vector y) {
    return -y;
  }
}
transformed data {
  array[1] vector[1] z = ode_adams(f, 1.0, 0, {1.0});
}
