// mistake: assigns to transformed data in transformed parameters
transformed data {
  real x = 1;
}
transformed parameters {
  x = 3;
}
