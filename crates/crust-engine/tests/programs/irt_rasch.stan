// One-parameter item response, with the mean of difficulties fixed by construction.
data {
  int<lower=2> I;
  int<lower=1> J;
  array[J, I] int<lower=0, upper=1> y;
}
parameters {
  vector[I - 1] beta_free;
  vector[J] theta;
  real<lower=0> sigma;
}
transformed parameters {
  vector[I] beta = append_row(beta_free, -sum(beta_free));
}
model {
  target += normal_lupdf(beta | 0, 3);
  theta ~ normal(0, sigma);
  sigma ~ gamma(2, 1);
  for (j in 1:J) y[j] ~ bernoulli_logit(theta[j] - beta);
}
