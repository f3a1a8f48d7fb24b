data {
  int N;
  array[N] int n;
  array[N] int y;
  vector[N] dose;
}
parameters {
  real a;
  real<lower=0> b;
}
model {
  a ~ normal(0, 2);
  b ~ lognormal(0, 1);
  y ~ binomial(n, Phi(a + b * dose));
}
