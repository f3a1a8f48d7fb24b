// mistake: an unnormalised density in transformed parameters
parameters {
  real x;
}
transformed parameters {
  real a = normal_lupdf(x | 0, 1);
}
