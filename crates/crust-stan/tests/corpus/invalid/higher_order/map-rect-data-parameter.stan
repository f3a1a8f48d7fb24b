// mistake: the real data of map_rect depend on a parameter
functions {
  vector f(vector phi, vector theta, data array[] real xr,
           data array[] int xi) {
    return phi;
  }
}
data {
  array[2, 1] int xi;
}
parameters {
  vector[1] phi;
  array[2] vector[1] theta;
  array[2, 1] real xr;
}
model {
  target += sum(map_rect(f, phi, theta, xr, xi));
}
