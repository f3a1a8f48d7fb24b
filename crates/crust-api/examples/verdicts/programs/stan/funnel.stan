data {
  int D;
  vector[D] y;
}
parameters {
  real v;
  vector[D] x;
}
model {
  v ~ normal(0, 3);
  x ~ normal(0, exp(v / 2));
  y ~ normal(x, 10);
}
