data {
  int N;
  vector[N] y;
}
parameters {
  real mu;
}
model {
  mu ~ normal(0, 20);
  y ~ cauchy(mu, 1);
}
