data {
  int N;
  vector[N] y;
}
parameters {
  vector[2] mu;
  real<lower=0, upper=1> theta;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0, 5);
  theta ~ beta(2, 2);
  sigma ~ normal(0, 1);
  for (n in 1:N) target += log_mix(theta, normal_lpdf(y[n] | mu[1], sigma), normal_lpdf(y[n] | mu[2], sigma));
}
