// Known: θ ~ beta(2 + successes, 3 + failures).
data {
  int<lower=0> n;
  int<lower=0, upper=n> y;
}
parameters {
  real<lower=0, upper=1> theta;
}
model {
  theta ~ beta(2, 3);
  y ~ binomial(n, theta);
}
generated quantities {
  int again = binomial_rng(n, theta);
}
