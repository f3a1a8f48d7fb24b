// mistake: a density as the functor of an integral
functions {
  real f_lpdf(real x, real xc, array[] real th, data array[] real xr,
              data array[] int xi) {
    return x;
  }
}
transformed data {
  real a = integrate_1d(f_lpdf, 0, 1, {1.0}, {1.0}, {1});
}
