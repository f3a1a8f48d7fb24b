// mistake: a bound depends on a later parameter
parameters {
  real<lower=b> a;
  real b;
}
