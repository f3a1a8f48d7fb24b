// mistake: a variable of a nested block in transformed parameters is used later
transformed parameters {
  real t;
  {
    real u = 1;
    t = u;
  }
}
generated quantities {
  real b = u;
}
