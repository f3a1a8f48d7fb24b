data {
  int N;
  vector[N] t;
  vector[N] y;
}
parameters {
  real<lower=0, upper=10> w;
  real a;
  real b;
}
model {
  a ~ normal(0, 1);
  b ~ normal(0, 1);
  y ~ normal(a * sin(w * t) + b * cos(w * t), 0.5);
}
