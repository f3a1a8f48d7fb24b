// mistake: assigns to a parameter in transformed parameters
parameters {
  real x;
}
transformed parameters {
  x = 3;
}
