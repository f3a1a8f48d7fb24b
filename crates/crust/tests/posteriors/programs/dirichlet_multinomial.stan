// Known: p ~ dirichlet(α + counts).
data {
  int<lower=1> K;
  vector<lower=0>[K] alpha;
  array[K] int<lower=0> y;
}
parameters {
  simplex[K] p;
}
model {
  p ~ dirichlet(alpha);
  y ~ multinomial(p);
}
