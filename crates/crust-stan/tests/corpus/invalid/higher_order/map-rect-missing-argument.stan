// mistake: map_rect lacks the integer data
functions {
  vector f(vector phi, vector theta, data array[] real xr,
           data array[] int xi) {
    return phi;
  }
}
data {
  array[2, 1] real xr;
}
parameters {
  vector[1] phi;
  array[2] vector[1] theta;
}
model {
  target += sum(map_rect(f, phi, theta, xr));
}
