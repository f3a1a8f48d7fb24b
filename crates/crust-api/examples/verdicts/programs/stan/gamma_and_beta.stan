data {
  int N;
  vector<lower=0, upper=1>[N] y;
}
parameters {
  real<lower=0> a;
  real<lower=0> b;
}
model {
  a ~ exponential(0.2);
  b ~ exponential(0.2);
  y ~ beta(a, b);
}
