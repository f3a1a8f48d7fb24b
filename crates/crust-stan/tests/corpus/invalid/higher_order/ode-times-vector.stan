// mistake: the times are a vector
functions {
  vector f(real t, vector y) {
    return -y;
  }
}
transformed data {
  array[1] vector[1] z = ode_ckrk(f, [1]', 0, [1.0]');
}
