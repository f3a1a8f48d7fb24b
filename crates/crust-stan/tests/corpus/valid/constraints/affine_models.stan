// Non-centred parametrisation by offset and multiplier that are parameters.
data {
  int<lower=1> j;
  vector[j] y;
  vector<lower=0>[j] se;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector<offset=mu, multiplier=tau>[j] theta;
  array[j] real<offset=mu, multiplier=tau> phi;
  matrix<multiplier=tau>[j, 2] mat;
}
model {
  mu ~ normal(0, 10);
  tau ~ cauchy(0, 5);
  theta ~ normal(mu, tau);
  phi ~ normal(mu, tau);
  to_vector(mat) ~ normal(0, tau);
  y ~ normal(theta, se);
}
