// mistake: the functor of map_rect returns a real
functions {
  real f(vector phi, vector theta, data array[] real xr, data array[] int xi) {
    return phi[1];
  }
}
data {
  array[2, 1] real xr;
  array[2, 1] int xi;
}
parameters {
  vector[1] phi;
  array[2] vector[1] theta;
}
model {
  target += sum(map_rect(f, phi, theta, xr, xi));
}
