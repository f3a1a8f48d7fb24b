data {
  int N;
  vector[N] x;
  array[N] int<lower=0> y;
}
parameters {
  real a;
  real b;
}
model {
  a ~ normal(0, 2);
  b ~ normal(0, 1);
  y ~ poisson_log(a + b * x);
}
