// Known: quadrature over coefficient and scale; the first value is stationary.
data {
  int<lower=1> T;
  vector[T] y;
}
parameters {
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
}
model {
  sigma ~ exponential(1);
  y[1] ~ normal(0, sigma / sqrt(1 - phi ^ 2));
  for (t in 2 : T) 
    y[t] ~ normal(phi * y[t - 1], sigma);
}
