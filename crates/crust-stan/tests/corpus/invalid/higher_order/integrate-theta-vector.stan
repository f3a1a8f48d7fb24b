// mistake: the parameters of an integral are a vector
functions {
  real f(real x, real xc, array[] real th, data array[] real xr,
         data array[] int xi) {
    return x;
  }
}
transformed data {
  real a = integrate_1d(f, 0, 1, [1.0]', {1.0}, {1});
}
