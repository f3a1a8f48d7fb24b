// mistake: an identifier ends in two underscores
parameters {
  real theta__;
}
