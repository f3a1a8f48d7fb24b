// Regression with Student-t errors whose degrees of freedom are estimated.
data {
  int<lower=1> n;
  int<lower=1> k;
  matrix[n, k] x;
  vector[n] y;
}
parameters {
  vector[k] b;
  real<lower=0> s;
  real<lower=1> nu;
}
model {
  b ~ normal(0, 3);
  s ~ cauchy(0, 1);
  nu - 1 ~ gamma(2, 0.1);
  y ~ student_t(nu, x * b, s);
}
