data {
  int N;
  matrix[N, 2] x;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real a;
  vector[2] b;
}
model {
  a ~ normal(0, 2.5);
  b ~ normal(0, 2.5);
  y ~ bernoulli_logit(a + x * b);
}
