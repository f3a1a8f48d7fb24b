data {
  int N;
  vector[N] x;
  vector[N] y;
}
parameters {
  real a;
  real b;
  real g0;
  real g1;
}
model {
  a ~ normal(0, 5);
  b ~ normal(0, 5);
  g0 ~ normal(0, 1);
  g1 ~ normal(0, 1);
  y ~ normal(a + b * x, exp(g0 + g1 * x));
}
