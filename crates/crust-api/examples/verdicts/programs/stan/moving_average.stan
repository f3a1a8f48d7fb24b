data {
  int<lower=3> T;
  vector[T] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
  real<lower=-1, upper=1> theta;
}
transformed parameters {
  vector[T] epsilon;
  epsilon[1] = y[1] - mu;
  for (t in 2:T) epsilon[t] = y[t] - mu - theta * epsilon[t - 1];
}
model {
  mu ~ cauchy(0, 2.5);
  theta ~ cauchy(0, 2.5);
  sigma ~ cauchy(0, 2.5);
  for (t in 2:T) y[t] ~ normal(mu + theta * epsilon[t - 1], sigma);
}
