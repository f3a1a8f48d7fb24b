data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real m;
}
model {
  y ~ normal(abs(m - 2.2), 0.1);
}
