// Bivariate normal data of which some entries are missing and become parameters.
data {
  int<lower=0> N;
  int<lower=0> N_miss;
  matrix[N, 2] y_obs;
  array[N_miss, 2] int where;
}
parameters {
  vector[N_miss] y_miss;
  vector[2] mu;
  vector<lower=0>[2] sigma;
  real<lower=-1, upper=1> rho;
}
transformed parameters {
  matrix[N, 2] y = y_obs;
  for (i in 1:N_miss) y[where[i, 1], where[i, 2]] = y_miss[i];
}
model {
  matrix[2, 2] L = [[sigma[1], 0], [rho * sigma[2], sigma[2] * sqrt(1 - square(rho))]];
  mu ~ normal(0, 2);
  sigma ~ normal(0, 2);
  for (n in 1:N) y[n] ~ multi_normal_cholesky(mu, L);
}
