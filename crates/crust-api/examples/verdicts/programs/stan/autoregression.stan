data {
  int T;
  vector[T] y;
}
parameters {
  real a;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
}
model {
  a ~ normal(0, 2);
  sigma ~ exponential(1);
  for (t in 2:T) y[t] ~ normal(a + phi * y[t - 1], sigma);
}
