// Known: β is normal with precision XᵀX/σ² + diag(1/s²).
data {
  int<lower=0> N;
  int<lower=1> K;
  matrix[N, K] x;
  vector[N] y;
  real<lower=0> sigma;
  vector<lower=0>[K] scale;
}
parameters {
  vector[K] beta;
}
model {
  beta ~ normal(0, scale);
  y ~ normal(x * beta, sigma);
}
generated quantities {
  real difference = beta[2] - beta[3];
}
