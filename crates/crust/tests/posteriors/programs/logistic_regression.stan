// Known: quadrature over intercept and slope.
data {
  int<lower=0> N;
  vector[N] x;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real alpha;
  real beta;
}
model {
  alpha ~ normal(0, 2.5);
  beta ~ student_t(7, 0, 2);
  y ~ bernoulli_logit(alpha + beta * x);
}
