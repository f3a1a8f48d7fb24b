// Known: λ ~ gamma(3 + Σy, 2 + N).
data {
  int<lower=0> N;
  array[N] int<lower=0> y;
}
parameters {
  real<lower=0> lambda;
}
model {
  lambda ~ gamma(3, 2);
  for (n in 1 : N) 
    y[n] ~ poisson(lambda);
}
generated quantities {
  int next = poisson_rng(lambda);
}
