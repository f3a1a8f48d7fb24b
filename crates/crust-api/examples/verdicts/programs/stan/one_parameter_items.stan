data {
  int I;
  int J;
  array[J, I] int<lower=0, upper=1> y;
}
parameters {
  vector[J] theta;
  vector[I] b;
  real<lower=0> s;
}
model {
  s ~ exponential(1);
  theta ~ normal(0, s);
  b ~ normal(0, 2);
  for (j in 1:J) y[j] ~ bernoulli_logit(theta[j] - b);
}
