// mistake: the times are missing
functions {
  vector f(real t, vector y) {
    return -y;
  }
}
transformed data {
  array[1] vector[1] z = ode_rk45(f, [1]', 0);
}
