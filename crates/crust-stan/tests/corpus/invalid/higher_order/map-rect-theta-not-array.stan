// mistake: the job parameters of map_rect are a vector
functions {
  vector f(vector phi, vector theta, data array[] real xr,
           data array[] int xi) {
    return phi;
  }
}
data {
  array[2, 1] real xr;
  array[2, 1] int xi;
}
parameters {
  vector[1] phi;
}
model {
  target += sum(map_rect(f, phi, phi, xr, xi));
}
