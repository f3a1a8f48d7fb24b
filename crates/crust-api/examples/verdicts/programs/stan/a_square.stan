data {
  int N;
  vector[N] y;
}
parameters {
  real m;
}
model {
  m ~ normal(0, 5);
  y ~ normal(square(m), 1);
}
