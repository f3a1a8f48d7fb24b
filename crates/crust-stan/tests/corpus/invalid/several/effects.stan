// mistake: effects in the wrong blocks (4 mistakes)
transformed data {
  target += 1;
}
transformed parameters {
  real a = normal_rng(0, 1);
}
model {
  jacobian += 1;
}
generated quantities {
  real b = normal_lupdf(1 | 0, 1);
}
