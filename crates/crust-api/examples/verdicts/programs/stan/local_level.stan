data {
  int T;
  vector[T] y;
}
parameters {
  real x0;
  vector[T] z;
  real<lower=0> q;
  real<lower=0> r;
}
transformed parameters {
  vector[T] x;
  x[1] = x0 + q * z[1];
  for (t in 2:T) x[t] = x[t - 1] + q * z[t];
}
model {
  x0 ~ normal(0, 5);
  z ~ std_normal();
  q ~ normal(0, 1);
  r ~ normal(0, 1);
  y ~ normal(x, r);
}
