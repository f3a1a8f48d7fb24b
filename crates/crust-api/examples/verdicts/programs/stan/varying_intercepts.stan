data {
  int N;
  int J;
  array[N] int<lower=1, upper=J> g;
  vector[N] y;
}
parameters {
  vector[J] a;
  real mu;
  real<lower=0> tau;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0, 5);
  tau ~ normal(0, 2);
  sigma ~ normal(0, 2);
  a ~ normal(mu, tau);
  for (n in 1:N) y[n] ~ normal(a[g[n]], sigma);
}
