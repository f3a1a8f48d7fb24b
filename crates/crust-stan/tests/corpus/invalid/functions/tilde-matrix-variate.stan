// mistake: a matrix variate for a univariate distribution
parameters {
  matrix[2, 2] x;
}
model {
  x ~ normal(0, 1);
}
