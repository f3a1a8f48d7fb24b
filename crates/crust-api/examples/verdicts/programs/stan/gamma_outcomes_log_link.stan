data {
  int N;
  vector[N] x;
  vector<lower=0>[N] y;
}
parameters {
  real a;
  real b;
  real<lower=0> shape;
}
model {
  a ~ normal(0, 3);
  b ~ normal(0, 3);
  shape ~ gamma(0.01, 0.01);
  y ~ gamma(shape, shape ./ exp(a + b * x));
}
