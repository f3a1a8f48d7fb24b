// mistake: a density as the functor of a differential equation
functions {
  real f_lpdf(real t, vector y, real k) {
    return k;
  }
}
transformed data {
  array[1] vector[1] z = ode_rk45(f_lpdf, [1]', 0, {1.0}, 2.0);
}
