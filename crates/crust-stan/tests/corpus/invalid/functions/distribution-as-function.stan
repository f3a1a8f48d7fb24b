// mistake: calls a distribution as if it were a function
parameters {
  real mu;
}
model {
  target += normal(mu, 0, 1);
}
