// mistake: a tolerance of the Laplace approximation depends on a parameter
functions {
  real likelihood(vector theta, real scale) {
    return -sum(square(theta)) / scale;
  }
  matrix kernel(real scale) {
    return [[scale]];
  }
}
parameters {
  real<lower=0> scale;
}
model {
  target += laplace_marginal_tol(likelihood, (scale,), 1, kernel, (scale,),
                                 ([0]', scale, 100, 1, 10, 1));
}
