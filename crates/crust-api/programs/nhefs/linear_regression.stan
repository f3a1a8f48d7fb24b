// Weight gain between 1971 and 1982, from five attributes: linear regression with a common scale for the coefficients.
data {
  int<lower=1> N;                 // people
  int<lower=1> K;                 // predictors
  matrix[N, K] x;                 // predictors, standardised
  vector[N] y;                    // weight gain, standardised
}
parameters {
  real<lower=0> sigma_sq;         // variance of the noise
  real<lower=0> scale_sq;         // variance of intercept and coefficients
  real alpha;
  vector[K] beta;
}
model {
  sigma_sq ~ inv_gamma(1, 1);
  scale_sq ~ inv_gamma(1, 1);
  alpha ~ normal(0, sqrt(scale_sq));
  beta ~ normal(0, sqrt(scale_sq));
  y ~ normal(alpha + x * beta, sqrt(sigma_sq));
}
