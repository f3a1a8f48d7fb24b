// mistake: a part of the tuple that is passed on has another type
functions {
  real likelihood(vector theta, array[] int y) {
    return sum(theta) * sum(y);
  }
  matrix kernel(real scale) {
    return [[scale]];
  }
}
parameters {
  real<lower=0> scale;
}
model {
  target += laplace_marginal(likelihood, (scale,), 1, kernel, (scale,));
}
