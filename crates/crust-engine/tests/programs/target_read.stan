// The log density so far is a value like any other.
parameters {
  real a;
  real<lower=0> b;
}
model {
  a ~ normal(0, 1);
  target += 0.5 * target() * b;
  b ~ gamma(2, 1);
  target += -0.01 * square(target());
}
