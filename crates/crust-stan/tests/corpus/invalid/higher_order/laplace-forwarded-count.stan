// mistake: the tuple that is passed on has a part too many
functions {
  real likelihood(vector theta, real scale) {
    return sum(theta) * scale;
  }
  matrix kernel(real scale) {
    return [[scale]];
  }
}
parameters {
  real<lower=0> scale;
}
model {
  target += laplace_marginal(likelihood, (scale, 1), 1, kernel, (scale,));
}
