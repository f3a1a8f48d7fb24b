// mistake: a parameter where the integral needs data
functions {
  real f(real x, real xc, array[] real th, data array[] real xr,
         data array[] int xi) {
    return x;
  }
}
parameters {
  real p;
}
model {
  target += integrate_1d(f, 0, 1, {p}, {p}, {1});
}
