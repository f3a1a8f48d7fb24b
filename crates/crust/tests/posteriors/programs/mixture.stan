// Known: quadrature over the weight and the common scale.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real<lower=0, upper=1> theta;
  real<lower=0> sigma;
}
model {
  theta ~ beta(2, 2);
  sigma ~ lognormal(0, 0.5);
  for (n in 1 : N) 
    target += log_mix(theta, normal_lpdf(y[n] | -1, sigma),
                      normal_lpdf(y[n] | 2, sigma));
}
