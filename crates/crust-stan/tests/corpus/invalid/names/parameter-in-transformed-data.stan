// mistake: a parameter is used in transformed data
transformed data {
  real a = theta;
}
parameters {
  real theta;
}
